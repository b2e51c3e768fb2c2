"""What the page of a folder of runs says in words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tollgate.base.text import format_interval, format_number
from tollgate.judge.verdicts import PASS
from tollgate.report.pages.kit.tones import BETTER, MOVED, WORSE
from tollgate.report.pages.runs.changes import TrendChange
from tollgate.report.pages.runs.model import Folder, Listed
from tollgate.report.pages.runs.trends import Trend, TrendLine

NO_VERDICT = "no verdict"
_GIT = 9
#: Characters of a reason.
_REASON = 240
#: Lines of a trend that change at the same run, from which on the page says that many do.
_MANY = 3


def time_of(run: Listed) -> str:
    """`2026-11-21 10:35`, in UTC."""
    return run.started.strftime("%Y-%m-%d %H:%M") if run.started else "time unknown"


def held(run: Listed) -> str:
    """How many of its criteria hold."""
    verdicts = [it.verdict for each in run.executions for it in each.figures if it.decides]
    return f"{verdicts.count(PASS)} of {len(verdicts)}" if verdicts else "-"


def why(run: Listed) -> list[str]:
    """Of its verdict the first reason, which may be empty, and second lines below that."""
    if run.verdict is None:
        return [run.problem or "it is still under way, or was ended before it could be judged"]
    text = run.reasons[0] if run.reasons else ""
    text = text if len(text) <= _REASON else f"{text[:_REASON]}..."
    more = len(run.reasons) - 1
    if more > 0:
        text += f"; and {more} more"
    faults = f"the fault of the {' and the '.join(run.faults)}" if run.faults else ""
    return [text, *filter(None, (faults, run.problem))]


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


def heading(trend: Trend, found: Sequence[Trend]) -> str:
    """With the time of its newest run where it is not the only trend of its kind."""
    alike = [it for it in found if it.kind == trend.kind]
    name = f"Trend of {trend.kind}"
    return name if len(alike) == 1 else f"{name}, until {time_of(trend.runs[-1])}"


def setting(trend: Trend) -> str:
    """What its runs have in common."""
    out = f"; {trend.left_out} left out as INVALID or interrupted" if trend.left_out else ""
    return (
        f"{len(trend.runs)} runs of {trend.plan} on {trend.machine}, "
        f"{time_of(trend.runs[0])} to {time_of(trend.runs[-1])} UTC{out}. "
        "Same plan, same load, same targets."
    )


def constant(trend: Trend) -> list[str]:
    """The figures that never differ."""
    constant = [it for it in trend.lines if it.is_constant]
    return [f"{it.name} ({it.execution}): {newest(it)[0]}" for it in constant]


def moved_together(found: Sequence[Trend]) -> Iterator[str]:
    """What moves nearly all figures at once is seldom the code of one of them."""
    for trend in found:
        searched = [it for it in trend.lines if it.is_searched]
        at = Counter(it.points[change.at].at for it in searched for change in it.changes)
        for place, count in sorted(at.items()):
            if count >= _MANY and count > len(searched) / 2:
                yield (
                    f"{count} of the {len(searched)} figures of {trend.kind} moved at the run of "
                    f"{time_of(trend.runs[place])} UTC: what moves most of them at once is the "
                    "machine or a version more often than the code of one target."
                )


def value(number: float, unit: str) -> str:
    return format_number(number) + ("" if unit in ("", "count") else f" {unit}")


def limit(line: TrendLine) -> str:
    return "-" if line.limit is None else f"{line.condition} {value(line.limit, line.unit)}"


def newest(line: TrendLine) -> tuple[str, str]:
    """The newest value, and its interval (empty for none)."""
    last = line.points[-1]
    known = last.low is not None and last.high is not None
    return value(last.value, line.unit), format_interval(last.low, last.high) if known else ""


def spread(line: TrendLine) -> str:
    """From the least to the largest value of all runs."""
    return format_interval(min(line.values), max(line.values))


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
    newest = f"in the newest {line.too_new} runs even a clear one may not show yet"
    return f"no change shown; {newest}"


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
    return "; ".join(
        f"{name} {version(old.get(name))} to {version(new.get(name))}" for name in names
    )


def version(found: str | None) -> str:
    """A version, or the beginning of a commit."""
    text = found or "unknown"
    commit, dash, dirty = text.partition("-")
    is_commit = len(commit) == 40 and all(it in "0123456789abcdef" for it in commit)
    return f"{commit[:_GIT]}{dash}{dirty}" if is_commit else text
