"""What stands beside a verdict: what its reader should know and what changes none. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tollgate.criteria import Criterion
from tollgate.judge.comparison import comparison_warnings
from tollgate.judge.cut_short import cut_short_warnings
from tollgate.judge.facts import Execution, Settings
from tollgate.judge.observe import hit_mask
from tollgate.judge.workers import outages_judged, reloads_told
from tollgate.stats import Counts


def warnings_of(
    execution: Execution, settings: Settings, from_s: float, to_s: float
) -> Iterator[str]:
    """One line for each thing, of the samples of [from_s, to_s)."""
    yield from _unnoticed(execution, from_s, to_s)
    yield from _by_service_time(execution, settings)
    for schedule in execution.schedules:
        if schedule.origin_is_estimated:
            yield (
                f"{', '.join(schedule.labels)}: the JTL has no column TESTSTART.MS, so that the "
                "zero of the schedule was guessed from the samples, and lateness that all of them "
                "have in common does not show: add TESTSTART.MS to JMeter's property "
                "sample_variables"
            )
    if execution.facts.url:
        yield (
            f"asked was {execution.facts.url}, which is not the run's own: it was neither started "
            "nor watched, and who else asked it meanwhile is not known"
        )
    yield from execution.facts.notes
    yield from cut_short_warnings(execution, settings)
    yield from reloads_told(execution.resources.reloads)
    yield from outages_judged(execution)
    if execution.comparison:
        yield from comparison_warnings(execution.comparison)
    if not execution.can_fail:
        yield "no criterion can fail this execution"


def _unnoticed(execution: Execution, from_s: float, to_s: float) -> Iterator[str]:
    for data in execution.labels.values():
        counts = data.service.window(from_s, to_s)
        mine = [c for c in execution.criteria if c.fail and c.label in (data.name, "")]
        failed = 0 if data.is_transaction else _unseen(counts, mine)
        if failed:
            yield (
                f"{failed} of {counts.total} requests of {data.name} failed, and no "
                f"criterion is about that: add 'fail of {data.name}>0%'"
            )


def _unseen(counts: Counts, criteria: Iterable[Criterion]) -> int:
    """How many failed samples none of these criteria would see.

    `fail` and `succ` see them all, rc those whose code it has a mask for; where it fails a run for
    too few of a code, it sees those of all other codes.
    """
    unseen = ~counts.ok
    for criterion in criteria:
        if criterion.subject in ("fail", "succ"):
            return 0
        if criterion.subject.startswith("rc"):
            hits = hit_mask(criterion, counts)
            seen = {">": hits, "<": ~hits}.get(criterion.condition[0])
            unseen = unseen if seen is None else unseen & ~seen
    return int(counts.n[unseen].sum())


def _by_service_time(execution: Execution, settings: Settings) -> Iterator[str]:
    latency = {c.label for c in execution.criteria if c.may_respond and c.fail}
    closed = [
        data.name
        for data in execution.labels.values()
        if data.response is None and not data.is_transaction and latency & {data.name, ""}
    ]
    if closed and settings.latency == "response":
        yield (
            f"{', '.join(dict.fromkeys(closed))}: judged by service time, for want of a schedule; "
            "a slow answer holds back the requests behind it, and their waiting is left out "
            "(coordinated omission)"
        )
