"""The history on the console: what each series shows, its steps, and the commits between. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tollgate.base.text import format_number, one_line
from tollgate.history.model import POINTS, HistoryRecord, Measure
from tollgate.history.series import Execution, Move, Series
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, PASS, unit_suffix
from tollgate.record.environment import Environment
from tollgate.report.table import CODE, INFORMATIONAL, VERDICT, Column, Table, to_console
from tollgate.stats.steps import Step

#: The lines of `git log` from one commit to another, the newest first; or why there are none, in
#: words.
Log = Callable[[str, str], list[str] | str]
_SHORT = 7
_COLUMNS = (Column("", VERDICT), Column("label", CODE), Column("metric"))


def reasons(
    gating: Sequence[Execution], newest: int, failed: Sequence[HistoryRecord] = ()
) -> list[str]:
    """Why the gate fails: a line for each series that has risen, and for each other FAIL of the
    newest runs. newest: of so many runs each step counts. failed: newer runs without measures."""
    reasons = [reason for each in gating for reason in _risen(each, newest)]
    runs = [*(each.runs[-1][0] for each in gating), *failed]
    reasons += (f"{run.run}: {text}" for run in runs for text in run.failed)
    reasons += (f"{it.run}: it failed, and measured nothing" for it in failed if not it.failed)
    return [*dict.fromkeys(map(one_line, reasons))]


def _risen(execution: Execution, newest: int) -> Iterator[str]:
    for each in execution.series:
        where = f"{execution.name}: {each.name}"
        if each.is_risen:
            limit = change(each, each.effect)
            yield (
                f"{where} has risen by {change(each, each.rise)} since the anchor: more "
                f"than the effect of {limit.lstrip('+')}, beyond doubt"
            )
        elif each.fails_at_once:
            newest_run = _measured(each, each.measures[-1])
            yield f"{where} failed in the newest run, beyond doubt: {newest_run}"
        for step in each.newly_risen(newest):
            ago = len(each.measures) - 1 - step.seen
            when = f"{_runs(ago)} ago" if ago else "with the newest run"
            yield f"{where} has a step of {_step(each, step)}, known {when}"


def lines(execution: Execution, newest: int, log: Log, colour: bool = False) -> Iterator[str]:
    """The part of one execution. newest: as in `reasons`. log: between two commits."""
    yield _heading(execution)
    yield from to_console(_table(execution, newest), colour)
    for move in execution.moves:
        yield from _moved(execution, move, log)


def _heading(execution: Execution) -> str:
    days = [record.began.date() for record, _ in execution.runs]
    anchor = execution.anchor
    against = f" against {anchor.description}" if anchor else ""
    text = f"{execution.kind}, {execution.name}{against}: {_runs(len(days))}"
    text += f", {days[0]} to {days[-1]}"
    if execution.left_out:
        text += f"; {execution.left_out} with another anchor, setup or machine left out"
    return one_line(text)


def _runs(number: int) -> str:
    return f"{number} run{'s' * (number != 1)}"


def _table(execution: Execution, newest: int) -> Table:
    columns = (*_COLUMNS, Column("since the anchor" if execution.anchor else "now", "number"))
    columns += (Column("newest run", "number"), Column("steps", "number"))
    rows = [
        (
            _verdict(each, newest),
            each.label,
            each.metric,
            value(each, each.rise),
            _measured(each, each.measures[-1]),
            str(len(each.steps)),
        )
        for each in execution.series
    ]
    return Table(execution.name, columns, rows)


def _verdict(series: Series, newest: int) -> str:
    if not series.may_gate:
        return INFORMATIONAL
    if series.gates(newest):
        return FAIL
    return INCONCLUSIVE if series.is_doubtful(newest) else PASS


def _moved(execution: Execution, move: Move, log: Log) -> Iterator[str]:
    """A step: what moved, between which runs, and what else was different."""
    before, last = (execution.runs[it][0] for it in (move.before, move.last))
    since = min(execution.runs[each.at[step.seen]][0].began for each, step in move.steps)
    lines_below = [f"between {before.run} and {last.run}, known since {since.date()}"]
    lines_below += _commits(execution.commit(move.before), execution.commit(move.last), log)
    if others := differences(before.environment, last.environment):
        lines_below.append(f"also changed: {', '.join(others)}")
    yield ""
    yield one_line(", ".join(f"{each.name} {_step(each, step)}" for each, step in move.steps))
    yield from (f"  {one_line(line)}" for line in lines_below)


def _commits(old: str | None, new: str | None, log: Log) -> list[str]:
    if old is None or new is None:
        return ["which commits lie between is not known: a run had none"]
    if old.startswith(new) or new.startswith(old):
        return [f"both runs measured {old[:_SHORT]}: no commit of this repository did it"]
    commits = log(old, new)
    if isinstance(commits, str):
        return [f"which commits lie between is not known: {commits}"]
    return commits or [f"{new[:_SHORT]} lies before {old[:_SHORT]}"]


def differences(old: Environment, new: Environment) -> list[str]:
    """What else than a commit may have moved a series."""
    pairs = zip(_parts(old), _parts(new), strict=True)
    parts = [f"{name} {was} to {now}" for (name, was), (_, now) in pairs if was != now]
    names = {**old["plans"], **new["plans"]}
    plans = [it for it in names if old["plans"].get(it) != new["plans"].get(it)]
    return parts + [f"the plan {it}" for it in plans]


def _parts(known: Environment) -> list[tuple[str, str]]:
    machine = [("CPU", known["cpu"]), ("cores", str(known["cores"])), ("system", known["os"])]
    return [*machine, *((name, str(it)) for name, it in known["versions"].items())]


def value(series: Series, amount: float) -> str:
    """A value of a Measure with its unit: `231 ms`, of a comparison `+4.8 %`."""
    if series.effect is not None:
        return change(series, amount)
    return f"{format_number(amount)}{unit_suffix(series.unit)}"


def _measured(series: Series, measure: Measure) -> str:
    if measure.low is None or measure.high is None:
        return value(series, measure.value)
    ends = (value(series, end) for end in (measure.low, measure.high))
    return f"{value(series, measure.value)} ({' to '.join(ends)})"


def _step(series: Series, step: Step) -> str:
    if series.effect is None and step.before <= 0:
        return f"{value(series, step.before)} to {value(series, step.after)}"
    amount = step.after - step.before if series.unit == POINTS else step.rise
    return change(series, amount)


def change(series: Series, amount: float) -> str:
    """`+4.8 %`, of shares `+0.52 points`."""
    digits, unit = (2, "points") if series.unit == POINTS else (1, "%")
    text = f"{100 * amount:+.{digits}f}"
    return f"{text if float(text) else text.lstrip('+-')} {unit}"


def summary(gating: Sequence[Execution], reasons: Sequence[str], newest: int) -> Iterator[str]:
    """The gate's answer and its reasons."""
    if not reasons:
        steps = "; ".join(dict.fromkeys(_no_step(it, newest) for it in gating))
        doubts = [*dict.fromkeys(it for each in gating for it in _doubts(each, newest))]
        what = "nothing has risen since the anchor beyond its effect"
        if doubts:
            what = "no rise since the anchor beyond its effect is beyond doubt"
        yield f"{PASS}: {what}; {steps}"
        yield from (f"  {INCONCLUSIVE} {one_line(it)}" for it in doubts)
        return
    yield f"{FAIL}: {len(reasons)} reason{'s' * (len(reasons) > 1)}"
    yield from (f"  {FAIL} {reason}" for reason in reasons)


def _doubts(execution: Execution, newest: int) -> Iterator[str]:
    for each in execution.series:
        if not each.is_current and each.at[-1] >= len(execution.runs) - newest:
            yield f"{execution.name}: {each.name} was not measured by the newest run"
        if each.is_doubtful(newest):
            since = f"{change(each, each.now)} since the anchor"
            now = f"{_measured(each, each.measures[-1])} in the newest run"
            text = f"{execution.name}: {each.name} {since}, {now}"
            failed, runs = each.failed_at_once(newest), min(newest, len(each.measures))
            yield f"{text}; {failed} of the newest {_runs(runs)} failed" if failed else text


def _no_step(execution: Execution, newest: int) -> str:
    runs = len(execution.runs)
    level = min((len(it.level) for it in execution.series if it.is_current), default=0)
    if level < execution.needed:
        return f"no step can be found among {_runs(level)}{f' of {runs}' * (level < runs)}"
    return f"the newest {min(newest, runs)} of {_runs(runs)} found no step upwards"
