"""A year of nightly comparisons with an anchor, with steps and a creep: what the gate says of it.

Two labels with five metrics each, and all labels with three. Response times differ from night to
night by 0.8 %, of p95 by 1.2 %: more than the controls of docs/certificate.md do. One night in 50
is four times as wild. Each change is in all response times of one label and, by half, in `typical`
of all. Somebody mends each after three weeks. In every second year head has become 5 % faster than
the anchor before, so that only the steps tell.

Then calm years in which single nights go wrong, or every second one for three weeks.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from support.histories import EFFECTS, POINTS, measure, noise, record, stepped
from tollgate.compare.errors import ShareRise
from tollgate.compare.model import GateSettings
from tollgate.history.series import executions
from tollgate.stats.sequential import nominal_level

NIGHTS = 365
NEWEST = 7
#: (rise, by how many nights its six parts follow each other; 0 for a step). In random order.
CHANGES = ((0.02, 0), (0.03, 0), (0.04, 0), (0.05, 0), (0.01, 5))
#: Nights from one change to the next, until somebody mends it, and of a creep.
APART, MENDED, CREEP = 75, 21, 30
SERIES = [(label, metric) for label in ("sum", "search") for metric in EFFECTS]
SERIES += [("all labels", metric) for metric in ("typical", *POINTS)]
#: Requests of each side, and how many of both fail in a night with failures.
REQUESTS, FAILURES = 15_000, 225
LEVEL = nominal_level(tuple(np.arange(60, 601, 30) / 600), GateSettings.false_alarm / len(SERIES))
#: What goes wrong with one label for a night, and whether that night alone is to gate.
DISASTERS = (
    *(("p50", 9.0, True), ("p50", 0.3, True), ("p50", 0.1, False), ("typical", 0.15, True)),
    *(("errors", 0.4, True), ("errors", 0.01, True), ("stalls", 0.05, True)),
)


@dataclass(frozen=True)
class Change:
    """begins: its first night. rise: of a step; of a creep that of each part."""

    begins: int
    rise: float
    is_creep: bool

    @property
    def ends(self):
        """The night on which it is mended."""
        return self.begins + (CREEP if self.is_creep else 0) + MENDED

    @property
    def level(self):
        """The logarithm of its part of the level."""
        parts = range(0, CREEP, 5) if self.is_creep else (0,)
        up = stepped(NIGHTS, *((self.begins + it, self.rise) for it in parts))
        return np.where(np.arange(NIGHTS) < self.ends, up, 0)


def changes_of(rng):
    """The next begins when the level has been as before for three weeks: a level takes that long to
    be known."""
    order = rng.permutation(len(CHANGES))
    starts = [20 + APART * at + int(rng.integers(0, 5)) for at in range(len(order))]
    return [
        Change(start, CHANGES[which][0], bool(CHANGES[which][1]))
        for start, which in zip(starts, order, strict=True)
    ]


def year(rng, changes, before=0.0, wrong=()):
    """The execution of all nights, with its series. before: how much slower than the anchor. wrong:
    (metric, nights, by how much it is higher), of `sum`."""
    level = sum((it.level for it in changes), np.full(NIGHTS, np.log1p(before)))
    columns = {key: values_of(rng, level, *key) for key in SERIES}
    for metric, nights, by in wrong:
        columns["sum", metric][[*nights]] += by
    records = [
        record(
            night,
            *(measure(*key, it[night], half(key[1], it[night])) for key, it in columns.items()),
        )
        for night in range(NIGHTS)
    ]
    (found,) = executions(records)
    return found


def half(metric, value):
    """Of the night's own interval. Each failure is one of head's by the toss of a coin, and the low
    end has the level that a comparison of all series gives it at its last look."""
    if metric != "errors":
        return 0.03 if metric == "p95" else 0.02
    more = abs(value) * REQUESTS
    base = max(0.0, FAILURES - more) / 2
    rise = ShareRise((base, base + more), (REQUESTS, REQUESTS), 1.0)
    return rise.value - rise.low(LEVEL) if value else 0.001


def values_of(rng, level, label, metric):
    if metric in POINTS:
        seldom = rng.random(NIGHTS) < (0.5 if metric == "stalls" else 0.02)
        return np.where(seldom, rng.normal(0, 0.001, NIGHTS), 0)
    moved = {"sum": 1.0, "search": 0.0, "all labels": 0.5}[label]
    return np.expm1(moved * level + noise(rng, NIGHTS, 0.012 if metric == "p95" else 0.008))


def alarms(execution, night):
    """What gates on a night, with the records until then: no later one takes back a step."""
    for each in execution.series:
        known = tuple(it for it in each.steps if it.seen <= night)
        end = night + 1
        then = replace(each, at=each.at[:end], measures=each.measures[:end], steps=known)
        yield from ((each, it.at) for it in then.newly_risen(1))
        if then.is_risen or then.fails_at_once:
            yield each, night


def first_alarm(execution, change):
    """The first night after a change's first on which anything gates; None for none until it was
    mended."""
    nights = range(change.begins, change.ends)
    return next((it for it in nights if any(alarms(execution, it))), None)


@pytest.mark.statistics
def test_an_unchanged_year_has_at_most_one_false_alarm_a_quarter(repetitions):
    years, quarters = repetitions(30), 4
    with_two = 0
    for seed in years:
        found = year(np.random.default_rng(seed), [])
        nights = [night for night in range(NIGHTS) if any(alarms(found, night))]
        counts = np.bincount([night * quarters // NIGHTS for night in nights], minlength=quarters)
        with_two += int((counts > 1).sum())
    assert with_two == 0


@pytest.mark.statistics
def test_in_a_year_of_changes_each_is_found_in_time_and_nothing_else(repetitions):
    years = repetitions(50)
    late = dict.fromkeys(CHANGES, 0)
    nights = {it: [] for it in CHANGES}
    false = calm_nights = 0
    for seed in years:
        rng = np.random.default_rng(1000 + seed)
        changes = changes_of(rng)
        found = year(rng, changes, -0.05 * (seed % 2))
        for it in changes:
            at = first_alarm(found, it)
            after = NIGHTS if at is None else at - it.begins + 1
            # A creep is found before the seventh part would follow, which would bring it to 7 %.
            late[it.rise, 5 if it.is_creep else 0] += after > (CREEP if it.is_creep else 5)
            nights[it.rise, 5 if it.is_creep else 0].append(after)
        calm = [
            n for n in range(NIGHTS) if not any(it.begins <= n < it.ends + 10 for it in changes)
        ]
        false += sum(any(alarms(found, night)) for night in calm)
        calm_nights += len(calm)
    # Those of docs/history-explained.md, which `scripts/test tests/history/test_year.py -rP` shows.
    for (rise, _), found in nights.items():
        half, most = (int(np.quantile(found, it, method="higher")) for it in (0.5, 0.9))
        print(f"{rise:.0%}: {len(found)} changes, {half} | {most} | {max(found)} nights")
    print(f"{false} false alarms in {calm_nights} nights without a change")
    assert late[0.05, 0] <= years.most(0.05)
    assert late[0.01, 5] == 0
    assert false <= 2 * years.made  # the calm nights of a year are half of it


@pytest.mark.statistics
@pytest.mark.parametrize("lasts", [1, MENDED], ids=["a single night", "every second one"])
def test_a_night_that_fails_beyond_doubt_gates_by_itself(lasts, repetitions):
    years = repetitions(50)
    counts = {it: [0, 0] for it in DISASTERS}
    for seed in years:
        rng = np.random.default_rng(2000 + seed)
        begins = 30 + 45 * np.arange(len(DISASTERS)) + rng.integers(0, 5)
        nights = [range(it, it + lasts, 2) for it in begins]
        wrong = [(*it[:1], at, it[1]) for it, at in zip(DISASTERS, nights, strict=True)]
        found = year(rng, [], wrong=wrong)
        for disaster, bad in zip(DISASTERS, nights, strict=True):
            for late in (0, 1):
                counts[disaster][late] += sum(any(alarms(found, night + late)) for night in bad)
    made = years.made * len(range(0, lasts, 2))
    # Those of docs/history-explained.md, as above.
    for (metric, by, _), (on_it, after) in counts.items():
        print(f"{metric} {by:+}: {on_it} of {made} nights, and {after} of those after one")
    for (_, _, gates), (on_it, after) in counts.items():
        assert on_it == made if gates else lasts > 1 or on_it <= years.most(0.05)
        assert lasts > 1 or after <= years.most(0.05)
