"""Whether this machine is quiet enough to measure on, from an A/A of ten seconds. Pure.

Two identical servers got the same requests, each sent to one of them by a coin. Twice the change of
the median is estimated, by the very method of -compare (compare/estimates.py): between the two
servers, side by side, and between the first and the second half of the time, whichever server
answered, as if one version had been measured after the other. Nothing has changed in either, so
that what differs is the machine's noise, and its standard error says how long it would take to tell
a rise of 5 %:

    seconds = length * ((z(1 - alpha) + z(power)) * error / log 1.05)^2

with alpha, the chance of a false alarm, 1 % as -compare has it, and a power of 95 %. The error
shrinks with the square root of the time, if the noise is independent from one stretch to the next.
Noise that lasts longer than ten seconds doesn't show in the error; yet it shows where two halves
differ by more than their error explains. Then no length helps one-after-the-other, and a comparison
side by side still cancels it. The seconds hold for these servers at this rate: yours differ.

Thresholds. Up to 2 minutes is fine: what -compare promises for the median. Up to 10, its budget, it
works but is slow. Beyond, -compare ends INCONCLUSIVE. A stall is a wake-up that came 10 ms late:
ten times a response time of a millisecond, and more than the generator may be late by at a limit of
100 ms. STALLS of the requests may meet one, or percentiles such as a p99 show the machine. Above
STEAL the host takes so much CPU time that two runs can't be held against each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tollgate.compare.estimates import FEWEST_BLOCKS, LogRatio, percentile_ratio
from tollgate.compare.model import Blocks, Settings, Side
from tollgate.doctor.finding import FAIL, OK, WARN, Finding

Floats = NDArray[np.float64]

EFFECT = Settings.effect
POWER = 0.95
SOON_S, BUDGET_S = 120.0, Settings.budget_s
STALL_MS, STALLS = 10.0, 0.01
STEAL = 0.02
#: The estimator counts whole ticks; these are microseconds.
TICKS_PER_MS = 1000


@dataclass(frozen=True, eq=False)
class Samples:
    """at_s: when each request was due. side: 0 or 1, which server. took_ms: until its answer.
    late_ms: between when it was due and when it was sent. length_s: of the whole. stolen: the share
    of all cores' time that the host took."""

    at_s: Floats
    side: NDArray[np.int64]
    took_ms: Floats
    late_ms: Floats
    length_s: float
    stolen: float = 0.0


@dataclass(frozen=True)
class Noise:
    """change: how much the median differed, as a share, though nothing had changed. needed_s: how
    long it would take to tell EFFECT, infinite where more time does not help."""

    change: float
    needed_s: float


def judge(samples: Samples) -> list[Finding]:
    """Side by side, one after the other, stalls and stolen time."""
    halves = (samples.at_s >= samples.length_s / 2).astype(int)
    beside, after = (_noise(samples, group) for group in (samples.side, halves))
    return [_side_by_side(beside, after), _stalls(samples), _stolen(samples.stolen)]


def _noise(samples: Samples, group: NDArray[np.int64]) -> Noise:
    """group: 0 or 1 of each request; the medians of the two are held against each other."""
    ratio = percentile_ratio(_blocks(samples, group), "p50")
    return noise_of(ratio, samples.length_s)


def noise_of(ratio: LogRatio, length_s: float) -> Noise:
    """Nothing is known of a ratio that the estimator would not give: infinitely long."""
    if math.isnan(ratio.value):
        return Noise(math.nan, math.inf)
    change = math.expm1(ratio.value)
    z = float(special.ndtri(1 - Settings.false_alarm) + special.ndtri(POWER))
    if abs(ratio.value) > math.log1p(EFFECT) and not ratio.low(0.01) < 0 < ratio.high(0.01):
        return Noise(change, math.inf)
    return Noise(change, length_s * (z * ratio.error / math.log1p(EFFECT)) ** 2)


def _blocks(samples: Samples, group: NDArray[np.int64]) -> Blocks:
    ticks = np.round(samples.took_ms * TICKS_PER_MS).astype(np.int64)
    values, place = np.unique(ticks, return_inverse=True)
    block = (samples.at_s / samples.length_s * FEWEST_BLOCKS).astype(int)
    tables = np.zeros((2, FEWEST_BLOCKS, len(values)), np.int64)
    np.add.at(tables, (group, block, place), 1)
    no_failure = np.zeros(FEWEST_BLOCKS, np.int64)
    return Blocks("A/A", values, *(Side(table, no_failure) for table in tables))


def _side_by_side(beside: Noise, after: Noise) -> Finding:
    known = not math.isnan(beside.change)
    told = f"a {EFFECT:.0%} rise of the median shows {_within(beside)} side by side"
    changed = f"{beside.change:+.1%} and {after.change:+.1%} in this A/A" if known else "no figures"
    found = f"{told}, {_within(after)} one after the other ({changed})"
    if beside.needed_s <= SOON_S:
        return Finding(OK, "A/A", found)
    if beside.needed_s <= BUDGET_S:
        return Finding(WARN, "A/A", found, "end what else runs here, or give -compare its time")
    todo = "end what else runs here, or use a machine that nobody shares: verdicts won't come"
    return Finding(FAIL, "A/A", found, todo)


def _within(noise: Noise) -> str:
    if not math.isfinite(noise.needed_s):
        return "after no time, however long,"
    seconds = max(noise.needed_s, 1.0)
    return f"in some {seconds:.0f} s" if seconds < 100 else f"in some {seconds / 60:.0f} min"


def _stalls(samples: Samples) -> Finding:
    stalls = samples.late_ms[samples.late_ms > STALL_MS]
    share = len(stalls) / len(samples.late_ms)
    found = f"{len(stalls)} of {len(samples.late_ms)} requests sent over {STALL_MS:g} ms late"
    if len(stalls):
        found += f", the worst {stalls.max():.0f} ms"
    if share <= STALLS:
        return Finding(OK, "stalls", found)
    return Finding(WARN, "stalls", found, "don't judge a p99 here: it would be the machine's")


def _stolen(share: float) -> Finding:
    found = f"{share:.1%} of all CPU time went to other machines of the host"
    if share <= STEAL:
        return Finding(OK, "steal", found)
    return Finding(WARN, "steal", found, "compare side by side only, or use a machine of your own")
