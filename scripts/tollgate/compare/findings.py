"""What one look says of one metric of one label, and what stays of what earlier looks said. Pure.

The rules stand at the top of compare/decide.py.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tollgate.compare.change import Change
from tollgate.compare.model import ERRORS, FAIL, IMPROVED, OPEN, PASS, TOLD, Finding, Settings

# An extrapolation to more than so many times the samples is no figure.
_FAR = 20.0


def measured(key: tuple[str, str], change: Change, low_level: float, miss_level: float) -> Finding:
    """The finding without a decision. Levels: of the low and of the high end."""
    shown = None if math.isnan(change.base) else change.base
    found = Finding(*key, False, TOLD, change.note, shown)
    found = replace(found, head=None if math.isnan(change.head) else change.head)
    if change.note:
        return found
    ends = (change.value, change.low(low_level), change.high(miss_level))
    value, least, most = ends if key[1] == ERRORS else map(math.expm1, ends)
    return replace(found, change=value, low=least, high=most)


def decided(
    found: Finding,
    change: Change,
    low_level: float,
    miss_level: float,
    settings: Settings,
    at_s: float,
) -> Finding:
    """The finding of a metric that gates. Levels: as of `measured`. at_s: when this look was."""
    if change.note:
        return replace(found, verdict=OPEN, reason=f"cannot tell: {change.note}")
    effect = settings.change(found.metric)
    enough = settings.fail_from * effect
    value, least, most = change.value, change.low(low_level), change.high(miss_level)
    if change.high(low_level) < 0 and value <= -enough:
        return replace(found, verdict=IMPROVED, reason="better beyond doubt", at_s=at_s)
    if most < effect:
        reason = f"a rise of {told(found.metric, effect)} is ruled out"
        return replace(found, verdict=PASS, reason=reason, at_s=at_s)
    if least > 0 and value >= enough:
        return replace(found, verdict=FAIL, reason="worse beyond doubt", at_s=at_s)
    coarse = change.coarse
    down, up = value - coarse - least, most - value - coarse
    times = _times_longer(value, down, up, (effect - coarse, max(enough, coarse)), coarse)
    more_s = max(1.0, at_s * (times - 1)) if times <= _FAR else None
    # Without coarse times any estimate can be decided on.
    is_coarse = math.isinf(times)
    reason = _too_coarse(change, effect) if is_coarse else _too_few(times)
    return replace(found, verdict=OPEN, reason=reason, more_s=more_s, is_coarse=is_coarse)


def _times_longer(
    value: float, down: float, up: float, within: tuple[float, float], coarse: float
) -> float:
    """How many times as many samples would decide, were the estimate to stay as it is.

    down, up: how far chance alone makes the interval reach below and above the estimate. within:
    below which estimate a metric can pass, and above which it can fail.
    """
    passing = (up / (within[0] - value)) ** 2 if value < within[0] else math.inf
    can_fail = value >= within[1] and value > coarse
    return min(passing, (down / (value - coarse)) ** 2 if can_fail else math.inf)


def _too_few(times: float) -> str:
    if times > _FAR:
        return "cannot tell: far more samples would"
    return f"cannot tell: some {max(1.1, times):.2g} times as many samples would"


def _too_coarse(change: Change, effect: float) -> str:
    """Nor would more samples, however many."""
    return (
        f"cannot tell: JMeter's whole milliseconds are too coarse for a rise of "
        f"{told(change.metric, effect)}: nearly all times around {change.metric} are among those "
        f"of {change.among}, and it may be off by {told(change.metric, change.coarse)}; give a "
        "request more work, or leave the label or metric out of modules.compare's labels or gates"
    )


def weighed(before: Finding | None, now: Finding, is_like: bool) -> Finding:
    """What stays: the first decision, but for a failure or an improvement after a pass. is_like:
    whether both sides did the same work; if they do no longer, what held of its times is void."""
    if before is None or not before.decided or now.verdict == FAIL != before.verdict:
        return now
    if before.verdict != FAIL and not is_like:
        return now
    if before.verdict == PASS and now.verdict == IMPROVED:
        return now
    return replace(before, refused=now.refused)


def told(metric: str, change: float) -> str:
    """A change on its own scale, in words: `5.0 %`, or `0.10 percentage points` of errors."""
    if metric == ERRORS:
        return f"{change * 100:.2f} percentage points"
    return f"{math.expm1(change) * 100:.1f} %"
