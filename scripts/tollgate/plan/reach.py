"""Which labels of a plan no run of it can send, because all that has them is switched off by a
number or a constant. Pure.

Source: JMeter's manual, Component Reference, "Thread Group", "If Controller", "While Controller",
"Loop Controller", "Throughput Controller"; of the plugin bzm - Weighted Switch Controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tollgate.plan.data_files import EOF
from tollgate.plan.expressions import ExpandedText, Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import FLOW_CONTROL, ThreadGroup
from tollgate.plan.sessions import BY_NUMBER

_TRANSACTION = "TransactionController"
_IF, _WHILE = "IfController", "WhileController"
#: What would compare in a language, and does not where JMeter only looks for a word.
_OPERATOR = re.compile(r"[=<>!&|]")


def never_sent(
    root: Element, groups: Sequence[ThreadGroup], running: Expander, labels: Expander
) -> dict[str, str]:
    """By the labels of samplers and Transaction Controllers of which none can be sent, why not.
    groups: the plan's, as read. running, labels: as in variables.py."""
    reasons: dict[str, str] = {}
    sent: set[str] = set()
    for group, element in zip(groups, root.thread_groups, strict=True):
        off = "has 0 threads" if group.threads == 0 else "loops 0 times" if group.loops == 0 else ""
        for each, why in _below(element, off and f"{element.title} {off}", running):
            if each.is_sampler or each.kind == _TRANSACTION:
                label = labels.expand(each.name)
                if not why:
                    sent.add(label.pattern)
                elif not label.reason:
                    reasons[label.shown] = why
    is_sent = {label: any(re.fullmatch(it, label) for it in sent) for label in reasons}
    return {label: why for label, why in reasons.items() if not is_sent[label]}


def _below(element: Element, why: str, expander: Expander) -> Iterator[tuple[Element, str]]:
    """Each element below one, with why it never runs; empty where it may."""
    weightless = {row[0] for row in element.rows if expander.number("".join(row[1:2])) == 0}
    for child in element.active:
        own = why or _off(child, expander)
        if element.kind == "WeightedSwitchController" and child.name in weightless:
            own = own or f"its weight in {element.title} is 0"
        yield child, own
        yield from _below(child, own, expander)


def _off(element: Element, expander: Expander) -> str:
    """Why nothing in an element ever runs; empty where something may."""

    def is_zero(prop: str) -> bool:
        return expander.number(element.props.get(prop, "")) == 0

    kind, what = element.kind, ""
    if kind == "LoopController" and is_zero("LoopController.loops"):
        what = "loops 0 times"
    elif kind in (_IF, _WHILE):
        condition = _condition(element, expander)
        is_false = (condition.value or "").strip() == "false"
        is_false |= _is_word(element) and kind == _IF and not _may_be(condition, "true")
        what = "has a condition that is always false" if is_false else ""
    elif kind == "ThroughputController":
        is_total = element.props.get(f"{kind}.style", "") in BY_NUMBER
        name = "maxThroughput" if is_total else "percentThroughput"
        what = f"has a share of 0{'' if is_total else ' %'}" if is_zero(f"{kind}.{name}") else ""
    return what and f"{element.title} {what}"


def uncompared(root: Element, expander: Expander) -> Iterator[str]:
    """One line for each If and While Controller around requests with a comparison in its condition
    that JMeter does not make: it looks for the word `true`, or `false`. expander: knows what the
    run will."""
    for element in root.walk_placed():
        if element.kind in (_IF, _WHILE) and _is_word(element) and any(map(_sends, element.walk())):
            text = _condition(element, expander)
            words = ("true", "false", *(("", "last") if element.kind == _WHILE else ()))
            if element.kind == _WHILE and EOF in text.shown:
                continue  # the end of its data ends it
            if _OPERATOR.search(text.shown) and not any(_may_be(text, it) for it in words):
                so = "is never entered" if element.kind == _IF else "goes on for ever"
                yield (
                    f"{element.title} {so}: JMeter does not compare in {text.shown[:60]!r}, it "
                    "looks for a word there: write ${__jexl3(...)} around it"
                )


def _condition(element: Element, expander: Expander) -> ExpandedText:
    return expander.expand(element.props.get(f"{element.kind}.condition", "").strip())


def _is_word(element: Element) -> bool:
    """Whether its condition is a word to JMeter, not JavaScript."""
    return element.kind == _WHILE or element.props.get(f"{_IF}.useExpression") == "true"


def _sends(element: Element) -> bool:
    return element.is_sampler and element.kind != FLOW_CONTROL and not element.is_script


def _may_be(text: ExpandedText, word: str) -> bool:
    if text.value is not None:
        return text.value.strip().lower() == word
    return re.fullmatch(text.pattern, word, re.IGNORECASE) is not None
