"""What the page of a folder of runs says in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.base.text import format_interval, format_number
from tollgate.history.listed import Folder, Listed
from tollgate.history.trends import Trend, TrendLine
from tollgate.report.pages.kit.tones import BETTER, MOVED, WORSE
from tollgate.stats.changes import TrendChange

NO_VERDICT = "no verdict"
_GIT = 9


def time_of(run: Listed) -> str:
    """`2026-11-21 10:35`, in UTC."""
    return run.started.strftime("%Y-%m-%d %H:%M") if run.started else "time unknown"


def summary(folder: Folder) -> str:
    """The page's sentence."""
    if not folder.runs:
        return "There is no run in this folder yet."
    newest = folder.runs[0]
    which = f"newest of {len(folder.runs):,} runs" if len(folder.runs) > 1 else "only run"
    verdict = f"is {newest.verdict}" if newest.verdict else "has no verdict, or none yet"
    return f"The {which} ({newest.kind}) {verdict}."


def overview(found: Sequence[Trend]) -> str:
    """What the trends show together."""
    lines = [line for trend in found for line in trend.lines]
    moved = sum(bool(line.changes) for line in lines)
    short = sum(line.is_short for line in lines)
    long = len(lines) - short
    if not lines:
        return "No two runs are comparable yet, so there is no trend to show."
    parts = []
    if long:
        parts.append(
            f"{moved} of {long} figures moved to another level"
            if moved
            else f"no change is shown in {long} figures"
        )
    if short:
        needed = max(it.needed for it in lines if it.is_short)
        parts.append(f"too few comparable runs ({needed} are needed) to tell of {short}")
    text = "; ".join(parts)
    return f"Trends: {text}."


def value(number: float, unit: str) -> str:
    return format_number(number) + ("" if unit in ("", "count") else f" {unit}")


def limit(line: TrendLine) -> str:
    return "-" if line.limit is None else f"{line.condition} {value(line.limit, line.unit)}"


def newest(line: TrendLine) -> tuple[str, str]:
    """The newest value, and its interval (empty for none)."""
    last = line.points[-1]
    known = last.low is not None and last.high is not None
    return value(last.value, line.unit), format_interval(last.low, last.high) if known else ""


def direction(line: TrendLine, change: TrendChange) -> str:
    """Whether a change went towards what makes a run fail."""
    if line.condition[:1] not in ("<", ">") or change.after == change.before:
        return MOVED
    return WORSE if (change.after > change.before) == line.condition.startswith(">") else BETTER


def moved(line: TrendLine, change: TrendChange) -> str:
    """`11.1 to 16.9 ms (+52 %)`."""
    before, after = format_number(change.before), value(change.after, line.unit)
    share = "" if change.share is None else f" ({100 * change.share:+.0f} %)"
    return f"{before} to {after}{share}"


def unchanged(line: TrendLine) -> str:
    """What a line without a change shows."""
    if line.is_short:
        return f"too few runs to tell: {len(line.points)} of {line.needed}"
    return "no change shown; in the newest runs even a clear one may not show yet"


def differences(around: Sequence[Listed]) -> str:
    """What of the versions differs between the two runs in the middle of some, or else between the
    first and the last: the place of a change is an estimate, and may be off by a run or two."""
    middle = len(around) // 2
    if changed := _between(around[middle - 1], around[middle]):
        return changed
    if changed := _between(around[0], around[-1]):
        return f"a run or two from there: {changed}"
    last = around[-1].versions["commit"]
    if last == "unknown" or last.endswith("-dirty"):
        return "not the versions; whether the code is not known, the checkout had changes"
    return "neither commit nor versions, in the runs around it"


def _between(before: Listed, after: Listed) -> str:
    old, new = before.versions, after.versions
    names = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    return "; ".join(f"{it} {version(old.get(it))} to {version(new.get(it))}" for it in names)


def version(found: str | None) -> str:
    """A version, or the beginning of a commit."""
    text = found or "unknown"
    commit, dash, dirty = text.partition("-")
    is_commit = len(commit) == 40 and all(it in "0123456789abcdef" for it in commit)
    return f"{commit[:_GIT]}{dash}{dirty}" if is_commit else text
