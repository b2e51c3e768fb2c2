"""Which labels of a plan no run of it can send, because all that has them is switched off by a
number or a constant. Pure.

Source: JMeter's manual, Component Reference, "Thread Group", "If Controller", "While Controller",
"Loop Controller", "Throughput Controller"; of the plugin bzm - Weighted Switch Controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import ThreadGroup

#: A Throughput Controller's style where its number is of executions, not percent.
_TOTAL = "0"
#: What a script calls to name a sample otherwise.
_RENAMES = re.compile(r"[sS]ampleLabel")
_TRANSACTION = "TransactionController"


def never_sent(
    root: Element, groups: Sequence[ThreadGroup], running: Expander, labels: Expander
) -> dict[str, str]:
    """By the labels of samplers and Transaction Controllers of which none can be sent, why not.
    groups: the plan's, as read. running, labels: as in variables.py."""
    if any(it.is_script_with(_RENAMES) or it.is_script_in_a_file for it in root.walk()):
        return {}
    reasons: dict[str, str] = {}
    sent: set[str] = set()
    for group, element in zip(groups, root.thread_groups, strict=True):
        off = "has 0 threads" if group.threads == 0 else "loops 0 times" if group.loops == 0 else ""
        for each, why in _below(element, off and f"{element.title} {off}", running):
            if each.is_sampler or each.kind == _TRANSACTION:
                label = labels.expand(each.name)
                sent |= set() if why else {label.pattern}
                reasons |= {} if label.reason else {label.shown: why}
    is_sent = {label: any(re.fullmatch(it, label) for it in sent) for label in reasons}
    return {label: why for label, why in reasons.items() if not is_sent[label]}


def _below(element: Element, why: str, expander: Expander) -> Iterator[tuple[Element, str]]:
    """Each element below one, with why it never runs; empty where it may."""
    weightless = {row[0] for row in element.rows if _number(expander, row[1:2]) == 0}
    for child in element.active:
        own = why or _off(child, expander)
        if element.kind == "WeightedSwitchController" and child.name in weightless:
            own = own or f"its weight in {element.title} is 0"
        yield child, own
        yield from _below(child, own, expander)


def _off(element: Element, expander: Expander) -> str:
    """Why nothing in an element ever runs; empty where something may."""

    def is_zero(prop: str) -> bool:
        return _number(expander, [element.props.get(prop, "")]) == 0

    kind, what = element.kind, ""
    if kind == "LoopController" and is_zero("LoopController.loops"):
        what = "loops 0 times"
    elif kind in ("IfController", "WhileController"):
        text = expander.expand(element.props.get(f"{kind}.condition", "")).value or ""
        what = "has a condition that is always false" if text.strip() == "false" else ""
    elif kind == "ThroughputController":
        is_total = element.props.get(f"{kind}.style") == _TOTAL
        name = "maxThroughput" if is_total else "percentThroughput"
        what = f"has a share of 0{'' if is_total else ' %'}" if is_zero(f"{kind}.{name}") else ""
    return what and f"{element.title} {what}"


def _number(expander: Expander, texts: list[str] | tuple[str, ...]) -> float | None:
    try:
        return float(expander.expand(texts[0]).value or "")
    except (IndexError, ValueError):
        return None
