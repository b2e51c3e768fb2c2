"""The cross-check of the study: are JMeter's figures those of another load generator?

By turns with JMeter, in the rounds of the experiment CROSSCHECK, autocannon sends the same request
over as many connections to the same server; `checks` pairs its blocks with JMeter's of the same
round, so that what a round did to the machine cancels.

They agree when the ratio tool / JMeter lies, with its whole 95 % interval, within TOLERANCE for
throughput and for p50. The server is one process that is never idle, so that its throughput is what
both measure, and p50 is about users / throughput. What may part them without anybody
measuring wrongly:

- the generators' own CPU. A request takes up to 0.5 ms of it (JMeter), beside the server's 0.6,
  from cores that they share; on two cores the throughputs of three generators in C and in Node, by
  turns, lay up to 7 % apart (medians of 8 rounds). Where other processes leave the server less than
  its core, JMeter slows it down the most, and a check that would disagree can't tell;
- how times are cut. A p50 in whole milliseconds, cut, is known to half of one after correction:
  with 20 users and a p50 of 12 ms that is 4 %;
- the beginning. JMeter's first lead_s are left out, autocannon's are not; it opens its connections
  in it, which a busy server of Node 20 accepts one at each turn of its event loop. Some
  users^2 / 2 x service time go by until all are served alike: 0.1 s of 3 with 20 users, and all 3 s
  with 100, where p50s were up to 25 % too low for their throughput. So TOLERANCE holds for some 20
  users, not for 100.

10 % leaves room for these, and is far below the errors that matter: a generator that omits what it
had to wait for, counts users who wait nowhere, or can't keep the server busy, is off by much more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tollgate.study.crosscheck_tools import ToolError, ToolResult, installed_version, recorded
from tollgate.study.metrics import Metrics
from tollgate.study.model import CROSSCHECK, JMETER, Block, Cell, CellData, Check, Estimate
from tollgate.study.record import CHECKS
from tollgate.study.stats import BUSY, mean_cores, multiplicities, with_interval

__all__ = ["TOLERANCE", "checks", "crosscheck_command", "installed_version"]

#: Two throughputs, or two p50s, agree within a factor of 1 + TOLERANCE either way.
TOLERANCE = 0.10
#: Of the resamples: any would do, one that stays gives the same report of the same run.
SEED = 21
#: What is compared, in words.
NAMES = {"throughput": "throughput", "p50": "median response time"}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Pairs:
    """A tool's blocks beside JMeter's, by the rounds that have both: arrays of R rows.

    requests, seconds: float[R, 2], p50_ms: float[R, 2]; tool first.
    """

    requests: Floats
    seconds: Floats
    p50_ms: Floats


def crosscheck_command() -> str:
    """The executable that plans/study.jmx calls, see commands/crosscheck.py."""
    return str(Path(__file__).parents[1] / "commands" / "crosscheck-tool")


def checks(run: Path, blocks: Sequence[Block], cells: Mapping[Cell, CellData]) -> tuple[Check, ...]:
    """A Check for each tool that has measured blocks in this run, in the order of their names: of
    autocannon, and in runs made before of others too.

    run: the run's folder, which holds crosscheck/<block>.json. cells: the run's data, JMeter's cell
    of the experiment among them; without it no check has ratios.
    """
    measured = [each for each in blocks if each.cell.experiment == CROSSCHECK and each.round]
    tools = sorted({block.cell.arm for block in measured} - {JMETER})
    jmeter = next((data for cell, data in cells.items() if _is_jmeters(cell)), None)
    return tuple(
        _check(tool, *_results(run, [b for b in measured if b.cell.arm == tool]), jmeter)
        for tool in tools
    )


def _is_jmeters(cell: Cell) -> bool:
    return cell.experiment == CROSSCHECK and cell.arm == JMETER


def _results(run: Path, blocks: Sequence[Block]) -> tuple[dict[int, ToolResult], list[str]]:
    """(what the tool measured by round, why a round is not there)."""
    found, lost = {}, []
    for block in blocks:
        path = run / CHECKS / f"{block.number}.json"
        try:
            found[block.round] = recorded(path.read_text())
        except FileNotFoundError:
            lost.append(f"round {block.round} left no {CHECKS}/{path.name}")
        except (OSError, ValueError, ToolError) as error:
            lost.append(f"round {block.round}: {CHECKS}/{path.name} can't be read: {error}")
    return found, lost


def _check(
    tool: str, results: Mapping[int, ToolResult], lost: Sequence[str], jmeter: CellData | None
) -> Check:
    versions = ", ".join(sorted({each.version for each in results.values()})) or "unknown"
    rounds = [number for number in ([] if jmeter is None else jmeter.rounds) if number in results]
    if jmeter is None or not rounds:
        nothing = Estimate(None, note="no round has blocks of both")
        ratios = dict.fromkeys(NAMES, nothing)
        why = f"no round has blocks of both JMeter and {tool}{_because(lost)}"
        return Check(tool, versions, ratios, "cannot tell", why)
    used = [results[number] for number in rounds]
    ratios = _ratios(_pairs(used, jmeter, np.array(rounds)))
    agreement, reason = _judged(tool, ratios, lost)
    failed = sum(each.failed for each in used), int(jmeter.failed.sum())
    if any(failed):
        agreement = "cannot tell"
        reason = f"requests failed, {failed[0]} of {tool}'s and {failed[1]} of JMeter's: {reason}"
    elif agreement != "agrees":
        starved = _starved(jmeter)
        agreement = "cannot tell" if starved else agreement
        reason = "; ".join(filter(None, (reason, _cpu(tool, used, jmeter), starved)))
    return Check(tool, versions, ratios, agreement, reason)


def _pairs(used: Sequence[ToolResult], jmeter: CellData, rounds: NDArray[np.int64]) -> _Pairs:
    rows = np.searchsorted(jmeter.rounds, rounds)
    # One choice for each round: that round alone.
    each = Metrics(jmeter, rounds, np.eye(len(rounds)))
    return _Pairs(
        np.column_stack([[x.requests for x in used], jmeter.counts[rows].sum(axis=1)]),
        np.column_stack([[x.seconds for x in used], jmeter.window_s[rows]]),
        # What was cut is on average half a step more.
        np.column_stack([[x.p50_ms + x.step_ms / 2 for x in used], each["p50"]]),
    )


def _ratios(pairs: _Pairs) -> dict[str, Estimate]:
    """tool / JMeter, from all rounds and from resampled ones.

    A tool tells a p50 of each block and no distribution, so that the means of the blocks' p50s are
    compared, on both sides.
    """
    count = len(pairs.requests)

    def of(times: Floats) -> dict[str, Floats]:
        throughput = (times @ pairs.requests) / (times @ pairs.seconds)
        p50 = times @ pairs.p50_ms
        return {"throughput": throughput[:, 0] / throughput[:, 1], "p50": p50[:, 0] / p50[:, 1]}

    with np.errstate(divide="ignore", invalid="ignore"):
        once, again = of(np.ones((1, count))), of(multiplicities(count, SEED))
    return {name: with_interval(float(once[name][0]), again[name], count) for name in NAMES}


def _judged(tool: str, ratios: Mapping[str, Estimate], lost: Sequence[str]) -> tuple[str, str]:
    """(agreement, its reason)."""
    low, high = 1 / (1 + TOLERANCE), 1 + TOLERANCE
    within = f"{low:.2f} to {high:.2f}"
    unknown = next((each for each in ratios.values() if each.low is None), None)
    if unknown is not None:
        return "cannot tell", f"{unknown.note}{_because(lost)}"
    apart = [name for name, it in ratios.items() if it.low > high or it.high < low]
    if apart:
        return "disagrees", f"{_words(tool, ratios, apart)}, outside {within}"
    if all(it.low >= low and it.high <= high for it in ratios.values()):
        return "agrees", f"{_words(tool, ratios, NAMES)}, within {within}"
    crossing = [name for name, it in ratios.items() if it.low < low or it.high > high]
    return "cannot tell", f"{_words(tool, ratios, crossing)}, which reaches beyond {within}"


def _words(tool: str, ratios: Mapping[str, Estimate], names: Sequence[str]) -> str:
    told_of = (
        f"{NAMES[name]} {ratios[name].value:.2f} ({ratios[name].low:.2f} to "
        f"{ratios[name].high:.2f})"
        for name in names
    )
    return f"{tool} / JMeter: {' and '.join(told_of)}"


def _cpu(tool: str, used: Sequence[ToolResult], jmeter: CellData) -> str:
    """What each took from the cores that the server runs on too."""
    own = 1000 * sum(x.cpu_s for x in used) / sum(x.requests for x in used)
    spent = (jmeter.generator_cores * jmeter.window_s).sum()
    if not np.isfinite(spent):
        return f"a request took {own:.2g} ms of {tool}'s CPU, JMeter's is not known"
    other = 1000 * spent / jmeter.counts.sum()
    return f"a request took {own:.2g} ms of {tool}'s CPU and {other:.2g} ms of JMeter's"


def _starved(jmeter: CellData) -> str:
    """Why the figures of JMeter's blocks are not those of a server at work, empty if they are: it
    had less than its core, and no more was left. Then who takes less CPU sees a faster server."""
    mean = mean_cores(jmeter)
    if np.isnan(mean["service"]) or mean["service"] + mean["idle"] >= BUSY:
        return ""
    return (
        f"in JMeter's blocks the server had {mean['service']:.2f} cores and {mean['idle']:.2f} "
        "were idle: end what else runs on this machine, and measure again"
    )


def _because(lost: Sequence[str]) -> str:
    return f" ({'; '.join(lost)})" if lost else ""
