"""What to send next, and what the trials of a search say. Deterministic: `tollgate judge` replays it.

Rates are doubled until the limits fail. Between there and the last rate that kept them the next
rates are drawn from what the trials so far leave possible, and at the end a minute is sent at the
low end of the interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.capacity.model import TRUSTED, Ask, Result, Settings, Trial

#: Seconds of a trial of the generator, its first rate, and the highest one that is asked for.
CEILING_S, CEILING_START, CEILING_MOST = 3.0, 100.0, 6400.0
#: A generator that sends less than this share of what is asked has found its ceiling.
SENDS = 0.95


def next_ceiling_ask(trials: Sequence[Trial]) -> Ask | None:
    """What to send next to a server that does nothing; None when the ceiling is known.

    The rate doubles until a trial is not sound or sends less than it was asked for; one more trial
    lies between the last two. trials: those of the ceiling alone.
    """
    number = len(trials) + 1
    if not trials:
        return Ask(1, "ceiling", CEILING_START, CEILING_S)
    kept = [each for each in trials if _was_sent(each)]
    failed = [each for each in trials if not _was_sent(each)]
    if not failed:
        highest = kept[-1].ask.rate
        return None if highest >= CEILING_MOST else Ask(number, "ceiling", 2 * highest, CEILING_S)
    if len(failed) > 1 or not kept or kept[-1].ask.number > failed[0].ask.number:
        return None
    between = (kept[-1].ask.rate * failed[0].ask.rate) ** 0.5
    return Ask(number, "ceiling", between, CEILING_S)


def ceiling_of(trials: Sequence[Trial]) -> float:
    """The highest rate that the generator really sent in a sound trial, in arrivals a second; 0
    where there was none."""
    return max((each.achieved for each in trials if _was_sent(each)), default=0.0)


def _was_sent(trial: Trial) -> bool:
    return trial.sound and trial.achieved >= SENDS * trial.ask.rate


def next_ask(settings: Settings, ceiling: float, trials: Sequence[Trial]) -> Ask | None:
    """What to send next to the service; None when there is nothing more to ask.

    ceiling: the generator's own, see `ceiling_of`. trials: all of this search so far, in order,
    without those of the ceiling.
    """
    # The bracket alone, until the search between its ends is added.
    number = len(trials) + 1
    if not trials:
        return Ask(1, "bracket", settings.start_rate, settings.bracket_s)
    if trials[-1].ask.rate < TRUSTED * ceiling and trials[-1].keeps(settings.limits):
        rate = min(2 * trials[-1].ask.rate, TRUSTED * ceiling)
        return Ask(number, "bracket", rate, settings.bracket_s)
    return None


def result(settings: Settings, ceiling: float, trials: Sequence[Trial]) -> Result:
    """What the trials say, also of a search that was cut short. Arguments: see `next_ask`."""
    del settings, ceiling, trials
    return Result("open", "the search is not there yet")
