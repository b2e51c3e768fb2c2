"""The certification as Markdown: its tables, and what these rest on. Pure.

Each table answers one question and has few columns, so that it can be read where a README is read.
docs/certificate.md says what the columns mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from certification.conditions import Condition
from certification.effects import METRICS, Change, Effect
from certification.found import WITHIN_S
from certification.rows import Live, Resampled, Row, promised
from certification.store import Run
from tollgate.compare.model import FAIL, PASS


def method(runs: Sequence[Run], left_out: Sequence[str]) -> str:
    """A paragraph of lines. runs: those that are in the tables, at least one. left_out: a line for
    each kind of run that is not."""
    promise, environments = runs[-1].promise, [it.environment for it in runs if it.environment]
    settings = promised(runs[-1])[0]
    effects = ", ".join(f"{settings.effect_of(it):.1%} of {it}" for it in settings.gates)
    days = sorted({run.began[:10] for run in runs})
    versions = (it["versions"].items() for it in environments)
    lines = [
        f"{len(runs)} live runs, {' to '.join(dict.fromkeys((days[0], days[-1])))}, conditions in "
        "random order, each with arrivals, coin and neighbour of its own; BASE=HEAD, "
        f"MODE={promise['mode']}, {promise['processes']} processes a side. In brackets: exact 95 % "
        "intervals (Clopper and Pearson). Their samples are judged by the gate of this version.",
        f"The gate: effect {effects}, of {', '.join(settings.labels) or 'all labels'}; false "
        f"positives {settings.false_alarm:.1%}, misses {settings.miss:.1%}; first look after "
        f"{promise['first_s']:g} s, then every {promise['every_s']:g} s, at most "
        f"{settings.budget_s:g} s.",
        *_noise(runs),
        *_machines(runs),
        f"Versions: {_all(', '.join(f'{name} {it}' for name, it in each) for each in versions)}; "
        f"commit {_all(_commit(it['commit']) for it in environments)}.",
        *left_out,
    ]
    return "  \n".join(lines)


def _noise(runs: Sequence[Run]) -> list[str]:
    noisy = [run for run in runs if run.neighbour.get("cpu_s")]
    if not noisy:
        return []
    spent, seconds = (sum(run.neighbour[name] for run in noisy) for name in ("cpu_s", "seconds"))
    burns = _all(run.neighbour["burns"] for run in noisy)
    return [f"The neighbour burns {burns}: {spent / seconds:.0%} of a core over all."]


def _machines(runs: Sequence[Run]) -> list[str]:
    """A line for each that runs were on, with their number."""
    found = Counter(machine(run) for run in runs if run.environment)
    return [f"Machine of {n} runs: {named}." for named, n in found.items()]


def machine(run: Run) -> str:
    """What it ran on; `unknown` of one that was ended before it could say."""
    if not run.environment:
        return "unknown"
    environment = run.environment
    memory = environment["memory_bytes"] / 2**30
    cores = f"{run.cores} of {environment['cores']} cores"
    return f"{environment['cpu']}, {cores}, {memory:.0f} GiB, {environment['os']}"


def _commit(text: str) -> str:
    """Short, but never without the `-dirty` behind it."""
    revision, dash, dirty = text.partition("-")
    return revision[:12] + dash + dirty


def _all(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


NOTHING, NOT_DECIDED = "-", "not decided"
_OF = ("head has more", "neighbour")


@dataclass(frozen=True)
class Rows:
    """What runs of one machine gave: a row a condition, and an effect a label of it."""

    live: Sequence[Live]
    resampled: Sequence[Resampled] = ()
    effects: Sequence[Effect] = ()


def to_markdown(runs: Sequence[Run], machines: Mapping[str, Rows], left_out: Sequence[str]) -> str:
    """All tables, and what they rest on. left_out: a line for each kind of run that is not in."""
    parts = []
    for machine, rows in machines.items():
        parts += [f"### {machine}"] if len(machines) > 1 else []
        parts += [_live(rows.live), _simpler(rows.live), _found(rows)]
        parts += [_resampled(rows.resampled), _effects(rows.effects)]
    return "\n\n".join(part for part in (*parts, method(runs, left_out)) if part) + "\n"


def _live(rows: Sequence[Live]) -> str:
    times = ("FAIL after", "all decided after", "noise of p95")
    names = (*_OF, "FAIL", "PASS", "other verdicts", *times)
    cells = [
        (
            *_of(row.condition),
            row.share(FAIL),
            row.share(PASS),
            _others(row, but=(FAIL, PASS)),
            _time(row.fail_s, NOTHING),
            _time(row.decided_s, NOT_DECIDED),
            NOTHING if row.noise is None else f"{100 * row.noise:.2f} %",
        )
        for row in rows
    ]
    return _table("The gate, live runs", names, cells)


def _simpler(rows: Sequence[Live]) -> str:
    gates = ("this gate", "(a) stored baseline + 5 %", "(b) base first, then head: + 5 %")
    cells = ((*_of(row.condition), row.share(FAIL), row.baseline, row.sequential) for row in rows)
    return _table("FAIL of two simpler gates, live runs", (*_OF, *gates), cells)


def _found(rows: Rows) -> str:
    """Of slowed heads, and of labels that were slowed to speak of."""
    within = (f"{metric} FAIL within {most_s:g} s" for metric, most_s in WITHIN_S.items())
    slight = {(it.condition, it.label) for it in rows.effects if it.is_slight}
    founds = [
        (row.condition, label, kind, rates)
        for kind, made in (("live", rows.live), ("resampled", rows.resampled))
        for row in made
        for label, rates in row.found.items()
        if not row.condition.is_aa and (row.condition, label) not in slight
    ]
    founds.sort(key=lambda it: (it[0].noisy, *it[:3]))
    cells = ((*_of(condition), *it, *rates.values()) for condition, *it, rates in founds)
    return _table("Found in time", (*_OF, "label", "runs", *within), cells)


def _resampled(rows: Sequence[Resampled]) -> str:
    times = ("all decided after", "95 % of runs after")
    cells = (
        (
            *_of(row.condition),
            row.share(FAIL),
            _others(row, but=(FAIL,)),
            _time(row.decided_s, NOT_DECIDED),
            _time(row.most_s, NOT_DECIDED),
            f"{row.pairs} pairs of processes, {row.recorded_s:,} s",
        )
        for row in rows
    )
    names = (*_OF, "FAIL", "other verdicts", *times, "put together from")
    return _table("The gate, resampled runs", names, cells)


def _effects(effects: Sequence[Effect]) -> str:
    changes = (f"{metric}, base and change" for metric in METRICS)
    hidden = f"whole milliseconds hide, of {' and of '.join(METRICS)}"
    names = (*_OF, "label", "added, by the server's clock", *changes, hidden)
    cells = (
        (
            *_of(each.condition),
            each.label,
            f"{each.added.ms:.2f} ms: {each.added.share * 100:.1f} %" if each.added else NOTHING,
            *(_change(each.changes[metric]) for metric in METRICS),
            ", ".join(f"{100 * each.changes[metric].hidden:.1f} %" for metric in METRICS),
        )
        for each in effects
    )
    return _table("How much slower head really was", names, cells)


def _of(condition: Condition) -> tuple[str, str]:
    return condition.text, "noisy" if condition.noisy else "none"


def _others(row: Row, but: Iterable[str]) -> str:
    found = (f"{n:,} {name}" for name, n in sorted(row.verdicts.items()) if name not in but)
    return ", ".join(found) or NOTHING


def _time(seconds: float | None, never: str) -> str:
    if seconds is None:
        return NOTHING
    return f"{seconds:.0f} s" if math.isfinite(seconds) else never


def _change(change: Change) -> str:
    text = f"{change.base_ms:.1f} ms {_signed(change.share)} %"
    if change.low is None or change.high is None:
        return text
    return f"{text} ({_signed(change.low)} to {_signed(change.high)})"


def _signed(share: float) -> str:
    """In per cent, and none without a sign."""
    text = f"{share * 100:+.1f}"
    return text if float(text) else text[1:]


def _table(title: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Empty without rows."""
    lines = [f"| {' | '.join(map(str, it))} |" for it in (names, ["---"] * len(names), *rows)]
    return "\n".join([f"**{title}**", "", *lines]) if len(lines) > 2 else ""
