"""What the page of a folder of runs says in words. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tollgate.base.text import format_interval, format_number
from tollgate.history.listed import Folder, Listed
from tollgate.history.series import Execution, Series
from tollgate.history.trends import Line, Trend
from tollgate.report.history import change, differences, value
from tollgate.report.pages.kit.tones import BETTER, MOVED, WORSE
from tollgate.stats.steps import Step

NO_VERDICT = "no verdict"
_GIT = 9
#: Runs on either side of a step among which it may have happened as well.
_NEAR = 2


def time_of(run: Listed) -> str:
    """`2026-11-21 10:35`, in UTC."""
    return f"{run.started:%Y-%m-%d %H:%M}" if run.started else "time unknown"


def summary(folder: Folder) -> str:
    """The page's sentence."""
    if not folder.runs:
        return "There is no run in this folder yet."
    newest_run = folder.runs[0]
    which = f"newest of {len(folder.runs):,} runs" if len(folder.runs) > 1 else "only run"
    verdict = f"is {newest_run.verdict}" if newest_run.verdict else "has no verdict, or none yet"
    return f"The {which} ({newest_run.kind}) {verdict}."


def overview(trends: Sequence[Trend]) -> str:
    """What the trends show together."""
    lines = [line for trend in trends for line in trend.lines]
    moved_lines = sum(bool(line.series.steps) for line in lines)
    short = [line.execution.needed for line in lines if line.is_short]
    long = len(lines) - len(short)
    if not lines:
        return "No two runs are comparable yet, so there is no trend to show."
    parts = []
    if long:
        parts.append(
            f"{moved_lines} of {long} figures moved to another level"
            if moved_lines
            else f"no change is shown in {long} figures"
        )
    if short:
        parts.append(f"too few comparable runs ({max(short)} are needed) to tell of {len(short)}")
    return f"Trends: {'; '.join(parts)}."


def about(trend: Trend) -> str:
    """Which runs a trend is made of, and what is the same in all of them."""
    last = trend.runs[-1]
    # A fragment lies in a folder of its own.
    plans = ", ".join(name for name in last.record.environment["plans"] if "/" not in name)
    anchor = trend.executions[0].anchor
    on = f"against {anchor.description}" if anchor else f"on {last.machine}"
    same = "anchor, same mode, same processes" if anchor else "plan, same load, same targets"
    when = f"{time_of(trend.runs[0])} to {time_of(last)} UTC"
    return f"{len(trend.runs)} runs of {plans or trend.kind} {on}, {when}. Same {same}."


def limit(series: Series) -> str:
    """What the newest run failed by, or would have."""
    newest_measure = series.measures[-1]
    if newest_measure.effect is not None:
        return f"> {change(series, newest_measure.effect)}"
    if newest_measure.limit is None:
        return "-"
    return f"{newest_measure.condition} {value(series, newest_measure.limit)}"


def newest(series: Series) -> tuple[str, str]:
    """The newest value, and its interval (empty for none)."""
    last = series.measures[-1]
    if last.low is None or last.high is None:
        return value(series, last.value), ""
    return value(series, last.value), _between(series, last.low, last.high)


def all_runs(series: Series) -> str:
    """The lowest and the highest value."""
    values = [measure.value for measure in series.measures]
    return _between(series, min(values), max(values))


def _between(series: Series, low: float, high: float) -> str:
    if series.effect is None:
        return format_interval(low, high)
    return f"{change(series, low)} to {change(series, high)}"


def direction(series: Series, step: Step) -> str:
    """Whether a step went towards what makes a run fail."""
    condition = ">" if series.effect is not None else (series.measures[-1].condition or "")
    if condition[:1] not in ("<", ">") or step.after == step.before:
        return MOVED
    return WORSE if (step.after > step.before) == condition.startswith(">") else BETTER


def moved(series: Series, step: Step) -> str:
    """`11.1 to 16.9 ms (+52 %)`, of a comparison `+0.1 % to +3.3 %`."""
    before, after = series.value_of(step.before), series.value_of(step.after)
    if series.effect is not None:
        return f"{change(series, before)} to {change(series, after)}"
    share = f" ({100 * step.rise:+.0f} %)" if math.isfinite(step.rise) else ""
    return f"{format_number(before)} to {value(series, after)}{share}"


def unchanged(line: Line) -> str:
    """What a line without a step shows."""
    if line.is_short:
        return f"too few runs to tell: {len(line.at)} of {line.execution.needed}"
    return "no change shown; in the newest runs even a clear one may not show yet"


def first(trend: Trend, line: Line, step: Step) -> Listed:
    """The first run on the new level."""
    return trend.runs[line.at[step.at]]


def what_else(line: Line, step: Step) -> str:
    """What of code, versions and machine differs between the last run that is certainly on the old
    level and the last that may be the first on the new one; or else between runs around these, for
    a step that was known soon may begin a run or two from there."""
    places = line.series.at
    before, last = step.first - 1, step.last
    if changed := _changed(line.execution, places[before], places[last]):
        return changed
    before, last = max(0, before - _NEAR), min(len(places) - 1, last + _NEAR)
    if changed := _changed(line.execution, places[before], places[last]):
        return f"a run or two from there: {changed}"
    commit = line.execution.runs[places[last]][0].environment["commit"]
    if commit == "unknown" or commit.endswith("-dirty"):
        return "not the versions; whether the code is not known, the checkout had changes"
    return "neither commit nor versions, in the runs around it"


def _changed(execution: Execution, before: int, last: int) -> str:
    old, new = (execution.runs[at][0].environment for at in (before, last))
    commits = [(execution.commit(at) or "unknown")[:_GIT] for at in (before, last)]
    changed = [f"commit {' to '.join(commits)}"] if commits[0] != commits[1] else []
    return "; ".join(changed + differences(old, new))


def version(commit: str) -> str:
    """The beginning of a commit, or all of what is none."""
    text, dash, dirty = commit.partition("-")
    is_commit = len(text) == 40 and all(digit in "0123456789abcdef" for digit in text)
    return f"{text[:_GIT]}{dash}{dirty}" if is_commit else commit
