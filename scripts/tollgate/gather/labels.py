"""What evidence.py gathers about the labels of an execution, and whose rows are requests.

A Transaction Controller leaves a row that adds up those of the samplers in it, which is no request
besides, or, with "Generate parent sample", one that stands in their place, which is. JMeter writes
both alike, so that only the plan tells them apart, by their names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tollgate.judge.facts import LabelData
from tollgate.plan.model import Plan, PlanLabel
from tollgate.samples.counts import Jtl
from tollgate.samples.layout import JtlError
from tollgate.schedule.replay import ReplayResult

#: What JMeter tells the rows of Transaction Controllers by.
KIND_COLUMN, KIND_FLAG = "responseMessage", "message"


def names_of(labels: Iterable[PlanLabel]) -> list[str]:
    """Those of the labels that are known before the run."""
    return [label.text for label in labels if not label.pattern]


def alike_problems(plan: Plan) -> Iterator[str]:
    """One line for each two Transaction Controllers whose rows nobody could tell apart."""
    beside = names_of(plan.transaction_labels)
    for name in names_of(plan.parent_labels):
        if name in beside:
            yield f"the plan {plan.path.name} has {_alike(name)}"


def parent_samples(plan: Plan, jtl: Jtl) -> tuple[str, ...]:
    """Names in jtl.transactions whose rows are requests all the same: those of parent samples, and
    of samplers whose answers only look like a transaction's.

    Raises JtlError where the JTL does not tell whether a row is a transaction's, or of which kind.
    """
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
            raise JtlError(jtl.path, f"holds rows of {_alike(name)}")
    return tuple(name for name in jtl.transactions if name not in beside)


def labels_of(
    jtl: Jtl, replayed: ReplayResult, parents: Collection[str]
) -> dict[tuple[str, bool], LabelData]:
    """The samples of each label, under its name and whether the rows look like a transaction's.
    parents: as parent_samples found them."""
    samplers = {
        (name, False): LabelData(
            name,
            label.counts,
            replayed.response.get(name),
            label.totals,
            lateness=replayed.lateness.get(name),
            # In an open model all of the lateness is the generator's: the service time is left.
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
    return samplers | transactions


def _has(labels: Iterable[PlanLabel], name: str) -> bool:
    return any(label.matches(name) for label in labels)


def _alike(name: str) -> str:
    return (
        f"Transaction Controllers named {name!r} with 'Generate parent sample' and without, whose "
        "rows look alike; rename one of them in the plan"
    )
