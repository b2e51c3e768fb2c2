"""The certification as Markdown. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tollgate.certify.conditions import Condition
from tollgate.certify.effects import Effect
from tollgate.certify.resample import SEGMENT_S
from tollgate.certify.rows import Resampled, Row
from tollgate.certify.store import Run
from tollgate.compare.model import FAIL

NOTHING = "-"
_RESAMPLED = (
    f"Resampled: the complete gate on runs put together from recorded seconds, {SEGMENT_S} s at a "
    "time; in A/A base and head change places at random. The intervals are those of drawing alone: "
    "of differences between processes it knows those of the recorded runs."
)


def to_markdown(
    runs: Sequence[Run],
    rows: Sequence[Row],
    resampled: Sequence[Resampled],
    effects: Sequence[Effect],
    left_out: Sequence[str],
) -> str:
    """All tables, and what they rest on. left_out: a line for each kind of run that is not in."""
    parts = [_live(rows), _resampled(resampled), _effects(effects)]
    parts.append(_method(runs, bool(resampled), left_out))
    return "\n\n".join(part for part in parts if part) + "\n"


def _live(rows: Sequence[Row]) -> str:
    lines = _head(
        "head has more",
        "by the server's clock",
        "neighbour",
        "FAIL, live runs",
        "blocked in all",
        "other verdicts",
        "until the first failure",
        "until everything was decided",
        "whole command",
        "(a) stored baseline + 5 %: FAIL",
        "(b) base first, then head: FAIL",
    )
    for row in rows:
        lines.append(
            _row(
                row.condition.told,
                _injected(row.condition, row.injected),
                _noise(row.condition),
                row.failed,
                row.blocked,
                _others(row.verdicts),
                _seconds(row.fail_s),
                _seconds(row.seconds),
                _seconds(row.wall_s),
                row.baseline,
                row.sequential,
            )
        )
    return "\n".join(lines)


def _resampled(rows: Sequence[Resampled]) -> str:
    if not rows:
        return ""
    lines = _head(
        "head has more",
        "neighbour",
        "FAIL, resampled runs",
        "other verdicts",
        "until everything was decided",
        "put together from",
    )
    for row in rows:
        lines.append(
            _row(
                row.condition.told,
                _noise(row.condition),
                row.failed,
                _others(row.verdicts),
                _seconds(row.seconds),
                f"{row.runs} live runs, {row.recorded_s:,} s",
            )
        )
    return "\n".join(lines)


def _effects(effects: Sequence[Effect]) -> str:
    lines = _head(
        "condition", "label", "metric", "base", "head against base, all runs", "FAIL, live runs"
    )
    for each in effects:
        change = f"{_signed(each.change)} %"
        if each.low is not None and each.high is not None:
            change += f" ({_signed(each.low)} to {_signed(each.high)})"
        base = f"{each.base_ms:.1f} ms"
        shown = (each.condition, each.label, each.metric, base, change, each.failed)
        lines.append(_row(*shown))
    return "\n".join(lines)


def _method(runs: Sequence[Run], resampled: bool, left_out: Sequence[str]) -> str:
    promise, environments = runs[-1].promise, [it.environment for it in runs if it.environment]
    days = sorted({run.began[:10] for run in runs})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    lines = [
        f"{len(runs)} live runs, {span}, conditions in random order, each with "
        "arrivals, coin and neighbour of its own; BASE=HEAD, "
        f"MODE={promise['mode']}. In brackets: exact 95 % intervals (Clopper and Pearson); times "
        "are medians.",
        _promise(promise),
        *(_noise_told(runs) or ()),
        "(a) fails if a label's p95 is more than 5 % above base's in the run before, minutes ago; "
        "(b) if head's p95 in the second half of a run's seconds is more than 5 % above base's in "
        "the first. Both judge live runs of the same length, with half of the requests that a "
        "benchmark of one side alone would send in that time; (b) has all of them in A/A, where it "
        "takes those of both sides. Blocked in all: runs whose exit code is not 0, so that nothing "
        "is merged, FAIL or not.",
        *([_RESAMPLED] if resampled else []),
        f"Machine: {_all(_machine(it) for it in environments)}.",
        f"Versions: {_all(_versions(it) for it in environments)}; commit "
        f"{_all(_commit(it['commit']) for it in environments)}.",
        *left_out,
    ]
    return "  \n".join(lines)


def _promise(promise: dict[str, Any]) -> str:
    labels = ", ".join(promise["labels"]) or "all labels"
    return (
        f"The gate: effect {promise['effect']:.1%} of {', '.join(promise['gates'])} of {labels}; "
        f"false alarms {promise['false_alarm']:.1%}, misses {promise['miss']:.1%}; first look "
        f"after {promise['first_s']:g} s, then every {promise['every_s']:g} s, at most "
        f"{promise['budget_s']:g} s."
    )


def _noise_told(runs: Sequence[Run]) -> list[str]:
    noisy = [run for run in runs if run.neighbour.get("cpu_s")]
    if not noisy:
        return []
    share = sum(run.neighbour["cpu_s"] for run in noisy) / sum(
        run.neighbour["seconds"] for run in noisy
    )
    burns = _all(run.neighbour["burns"] for run in noisy)
    return [f"The neighbour burns {burns}: {share:.0%} of a core over all."]


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


def _injected(condition: Condition, amount: float | None) -> str:
    if amount is None:
        return NOTHING
    return f"{amount:.1f} ms" if condition.kind == "delay" else f"{amount * 100:.1f} %"


def _signed(share: float) -> str:
    """In per cent, and none without a sign."""
    text = f"{share * 100:+.1f}"
    return text if float(text) else text[1:]


def _noise(condition: Condition) -> str:
    return "noisy" if condition.noisy else "none"


def _others(verdicts: Counter[str]) -> str:
    others = [f"{n:,} {name}" for name, n in sorted(verdicts.items()) if name != FAIL]
    return ", ".join(others) or NOTHING


def _seconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds:.0f} s"


def _all(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _head(*names: str) -> list[str]:
    return [_row(*names), "|" + "---|" * len(names)]


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
