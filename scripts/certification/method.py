"""What the tables of a certification rest on, and what their words mean. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from certification.baselines import OLDEST_S
from certification.effects import LEAST_ADDED
from certification.resample import SEGMENT_S
from certification.rows import Row
from certification.store import Run

_TIMES = (
    "Times are medians of measuring, over all runs of a row, of which one that never got there "
    "counts as longer than any: where half of them did not, a dash stands below FAIL, and `not "
    "decided` elsewhere."
)
_FOUND = (
    "Found in time: that metric of that label failed, no later than so many seconds of measuring. "
    f"A label of which less than {LEAST_ADDED * 100:g} % was added to the answers, by the server's "
    "own clock, is left out there. How much slower head really was: by JMeter's times, which have "
    "the network, the connection and the queue in them."
)
_RESAMPLED = (
    f"Resampled: the complete gate on runs put together from recorded seconds, {SEGMENT_S} s at a "
    "time; in A/A base and head change places at random. The intervals are those of drawing alone: "
    "of differences between processes it knows those of the recorded runs."
)


def method(
    runs: Sequence[Run], rows: Sequence[Row], resampled: bool, left_out: Sequence[str]
) -> str:
    """A paragraph of lines. runs: those that are in the tables, at least one. left_out: a line for
    each kind of run that is not."""
    promise, environments = runs[-1].promise, [it.environment for it in runs if it.environment]
    lines = [
        f"{len(runs)} live runs, {_days(runs)}, conditions in random order, each with arrivals, "
        f"coin and neighbour of its own; BASE=HEAD, MODE={promise['mode']}. In brackets: exact "
        "95 % intervals (Clopper and Pearson).",
        _promise(promise),
        "Blocked in all: runs whose exit code is not 0, so that nothing is merged, FAIL or not.",
        " ".join([_TIMES, *_beyond(runs)]),
        *([] if all(run.of.is_aa for run in runs) else [_FOUND]),
        *_noise(runs),
        _simpler(rows),
        *([_RESAMPLED] if resampled else []),
        f"Machine: {_all(_machine(it) for it in environments)}.",
        f"Versions: {_all(_versions(it) for it in environments)}; commit "
        f"{_all(_commit(it['commit']) for it in environments)}.",
        *left_out,
    ]
    return "  \n".join(lines)


def _days(runs: Sequence[Run]) -> str:
    days = sorted({run.began[:10] for run in runs})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _promise(promise: dict[str, Any]) -> str:
    labels = ", ".join(promise["labels"]) or "all labels"
    return (
        f"The gate: effect {promise['effect']:.1%} of {', '.join(promise['gates'])} of {labels}; "
        f"false alarms {promise['false_alarm']:.1%}, misses {promise['miss']:.1%}; first look "
        f"after {promise['first_s']:g} s, then every {promise['every_s']:g} s, at most "
        f"{promise['budget_s']:g} s."
    )


def _beyond(runs: Sequence[Run]) -> list[str]:
    """What a command takes besides measuring."""
    beyond = [run.wall_s - run.seconds for run in runs if run.seconds is not None]
    if not beyond:
        return []
    return [f"The whole command takes {median(beyond):.0f} s more (median)."]


def _noise(runs: Sequence[Run]) -> list[str]:
    noisy = [run for run in runs if run.neighbour.get("cpu_s")]
    if not noisy:
        return []
    spent, seconds = (sum(run.neighbour[name] for run in noisy) for name in ("cpu_s", "seconds"))
    burns = _all(run.neighbour["burns"] for run in noisy)
    return [f"The neighbour burns {burns}: {spent / seconds:.0%} of a core over all."]


def _simpler(rows: Sequence[Row]) -> str:
    ages_s = [age_s for row in rows for age_s in row.ages_s]
    old = f", in the median {median(ages_s) / 60:.0f} minutes earlier" if ages_s else ""
    return (
        "(a) fails if a label's p95 is more than 5 % above base's in the last run before it of the "
        f"same commit with the same neighbour or none{old}; runs without one in the "
        f"{OLDEST_S / 60:.0f} minutes before are left out. (b) fails if head's p95 in the second "
        "half of a run's seconds is more than 5 % above base's in the first. Both judge live runs "
        "of the same length, with half of the requests that a benchmark of one side alone would "
        "send in that time; (b) has all of them in A/A, where it takes those of both sides."
    )


def _machine(environment: dict[str, Any]) -> str:
    memory = environment["memory_bytes"] / 2**30
    return (
        f"{environment['cpu']}, {environment['cores']} cores, {memory:.0f} GiB, "
        + (environment["os"])
    )


def _versions(environment: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in environment["versions"].items())


def _commit(told: str) -> str:
    """Short, but never without the `-dirty` behind it."""
    revision, dash, dirty = told.partition("-")
    return revision[:12] + dash + dirty


def _all(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))
