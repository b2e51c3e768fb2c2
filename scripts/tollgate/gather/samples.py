"""The samples of an execution, with what its plan says of them: labels, schedules, and which rows
are requests.

A Transaction Controller writes a row that adds up those of its samplers. That row is no request of
its own. With "Generate parent sample" it replaces them and counts as a request. JMeter writes both
kinds alike, so only the plan distinguishes them, by their names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tollgate.gather.context import ExecutionContext, alike
from tollgate.gather.thread_ends import ends_by_place
from tollgate.judge.facts import LabelData
from tollgate.plan.model import Plan, PlanLabel
from tollgate.samples.counts import Jtl
from tollgate.samples.layout import JtlError
from tollgate.samples.store import Store
from tollgate.samples.threads import Key
from tollgate.schedule.replay import ReplayResult, replay_jtl

#: The column that distinguishes the rows of Transaction Controllers.
KIND_COLUMN, KIND_FLAG = "responseMessage", "message"


@dataclass(frozen=True)
class ExecutionSamples:
    """The samples of an execution, joined with its plan."""

    context: ExecutionContext
    store: Store
    jtl: Jtl
    until_s: float | None
    """When the load was cut short, in seconds since the execution's start; None if it was not."""
    parents: tuple[str, ...]
    """Names in jtl.transactions whose rows are requests all the same: those of parent samples, and
    of samplers whose answers only look like a transaction's."""
    replayed: ReplayResult
    labels: dict[Key, LabelData]
    """By name and whether the rows look like a transaction's."""


def joined(
    context: ExecutionContext, store: Store, jtl: Jtl, until_s: float | None
) -> ExecutionSamples:
    """The samples of the store, which jtl counts, joined with the plan. until_s: when the load was
    cut short, in seconds since the execution's start. Raises JtlError, also where the JTL does not
    show whether a row is a transaction's, or which kind of one."""
    parents, warmup_s = _parents(context.plan, jtl), context.planned.warmup
    ends = ends_by_place(context.plan, context.planned.thread_ends or {}, is_certain=True)
    replayed = replay_jtl(context.plan, store, jtl, warmup_s, until_s, context.bins, ends=ends)
    samplers = {
        (name, False): LabelData(
            name,
            label.counts,
            replayed.response.get(name),
            label.totals,
            lateness=replayed.lateness.get(name),
            # In most open models all of the lateness is the generator's: the service time is left.
            without_generator_lateness=replayed.without_generator_lateness.get(name, label.counts),
        )
        for name, label in jtl.samplers.items()
    }
    transactions = {
        (name, True): LabelData(
            name, label.counts, None, label.totals, is_transaction=name not in parents
        )
        for name, label in jtl.transactions.items()
    }
    labels = samplers | transactions
    return ExecutionSamples(context, store, jtl, until_s, parents, replayed, labels)


def _parents(plan: Plan, jtl: Jtl) -> tuple[str, ...]:
    if KIND_COLUMN in jtl.missing_columns and plan.transaction_labels:
        problem = (
            f"the header has no column {KIND_COLUMN}, which distinguishes the rows of "
            "Transaction Controllers from those of their requests"
        )
        help_ = f"run it again with `modules.jmeter.csv-jtl-flags.{KIND_FLAG}` true"
        raise JtlError(jtl.path, problem, line=1, help_=help_)
    beside = {name for name in jtl.transactions if _has(plan.transaction_labels, name)}
    for name in sorted(beside):
        if _has(plan.parent_labels, name):
            raise JtlError(jtl.path, f"holds rows of {alike(name)}")
    return tuple(name for name in jtl.transactions if name not in beside)


def _has(labels: Iterable[PlanLabel], name: str) -> bool:
    return any(label.matches(name) for label in labels)
