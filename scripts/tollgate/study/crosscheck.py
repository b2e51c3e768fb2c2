"""The cross-check of the study: are JMeter's figures those of another load generator?

By turns with JMeter, in the rounds of the experiment CROSSCHECK, autocannon sends the same request
over as many connections to the same server; `checks` pairs its blocks with JMeter's of the same
round, so that what a round did to the machine cancels.

They agree when the ratio tool / JMeter lies, with its whole 95 % interval, within TOLERANCE for
throughput and for p50. The server is one process that is never idle, so that its throughput is what
both measure, and p50 is about users / throughput. Differences that are no errors of measurement:

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

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tollgate.base import records
from tollgate.study.autocannon import AutocannonResult
from tollgate.study.metrics import Metrics
from tollgate.study.model import CROSSCHECK, JMETER, Answer, Block, Cell, CellData, Check, Estimate
from tollgate.study.record import CHECKS
from tollgate.study.stats import BUSY, multiplicities, with_interval
from tollgate.study.words import AGREES, CANNOT_TELL, DISAGREES

#: Two throughputs, or two p50s, agree within a factor of 1 + TOLERANCE either way.
TOLERANCE = 0.10
#: Of the resamples: any would do, one that stays gives the same report of the same run.
SEED = 21
#: What is compared, in words.
NAMES = {"throughput": "throughput", "p50": "median response time"}


def checks(run: Path, blocks: Sequence[Block], cells: Mapping[Cell, CellData]) -> tuple[Check, ...]:
    """A Check for each tool that has measured blocks in this run, in the order of their names: of
    autocannon, and in older runs of others too.

    run: the run's folder, which holds crosscheck/<block>.json. cells: the run's data; without
    JMeter's cell of the experiment no check has ratios.
    """
    measured = [each for each in blocks if each.cell.experiment == CROSSCHECK and each.round]
    jmeter = next((data for it, data in cells.items() if it.key[:2] == (CROSSCHECK, JMETER)), None)
    return tuple(
        _check(run, tool, [block for block in measured if block.cell.arm == tool], jmeter)
        for tool in sorted({block.cell.arm for block in measured} - {JMETER})
    )


def _check(run: Path, tool: str, blocks: Sequence[Block], jmeter: CellData | None) -> Check:
    results, lost = _results(run / CHECKS, blocks)
    version = ", ".join(sorted({each.version for each in results.values()}))
    rounds = [number for number in (jmeter.rounds if jmeter else ()) if number in results]
    used = [results[number] for number in rounds]
    if jmeter is None or not used:
        nothing = dict.fromkeys(NAMES, Estimate(None, note="no round has blocks of both"))
        reason = "; ".join([f"no round has blocks of both JMeter and {tool}", *lost])
        return Check(tool, version, nothing, CANNOT_TELL, reason)
    ratios = _ratios(used, jmeter, np.array(rounds))
    agreement, reason = _judged(tool, ratios)
    reasons = [reason, *lost]
    failed = sum(each.failed for each in used), int(jmeter.failed.sum())
    if any(failed):
        agreement = CANNOT_TELL
        reasons.append(f"{failed[0]} of {tool}'s requests failed and {failed[1]} of JMeter's")
    elif agreement != AGREES:
        starved = _starved(jmeter)
        agreement = CANNOT_TELL if starved else agreement
        reasons += filter(None, [_cpu(tool, used, jmeter), starved])
    return Check(tool, version, ratios, agreement, "; ".join(reasons))


def _results(
    folder: Path, blocks: Iterable[Block]
) -> tuple[dict[int, AutocannonResult], list[str]]:
    """(what the tool measured by round, why a round is not there)."""
    results, lost = {}, []
    for block in blocks:
        path = folder / f"{block.number}.json"
        try:
            results[block.round] = records.parse(AutocannonResult, json.loads(path.read_text()))
        except (OSError, ValueError, RecursionError) as error:
            why = getattr(error, "strerror", None) or error  # without the place of the run's folder
            lost.append(f"round {block.round}: {CHECKS}/{path.name} can't be read: {why}")
    return results, lost


def _ratios(
    used: Sequence[AutocannonResult], jmeter: CellData, rounds: np.ndarray
) -> dict[str, Estimate]:
    """tool / JMeter, from all rounds and from resampled ones.

    A tool reports a p50 of each block and no distribution, so the means of the blocks' p50s are
    compared, on both sides.
    """
    rows = np.searchsorted(jmeter.rounds, rounds)
    # One choice for each round: that round alone.
    each = Metrics(jmeter, rounds, np.eye(len(rounds)))
    requests = np.column_stack([[x.requests for x in used], jmeter.counts[rows].sum(axis=1)])
    seconds = np.column_stack([[x.seconds for x in used], jmeter.window_s[rows]])
    # What was cut is on average half a step more.
    p50_ms = np.column_stack([[x.p50_ms + x.step_ms / 2 for x in used], each["p50"]])
    count = len(rounds)
    times = np.vstack([np.ones(count), multiplicities(count, SEED)])
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = {"throughput": (times @ requests) / (times @ seconds), "p50": times @ p50_ms}
        ratios = {name: side[:, 0] / side[:, 1] for name, side in sides.items()}
    return {name: with_interval(float(it[0]), it[1:], count) for name, it in ratios.items()}


def _judged(tool: str, ratios: Mapping[str, Estimate]) -> tuple[Answer, str]:
    """(agreement, its reason)."""
    unknown = [it.note for it in ratios.values() if it.low is None]
    if unknown:
        return CANNOT_TELL, unknown[0]
    low, high = 1 / (1 + TOLERANCE), 1 + TOLERANCE
    ends = {name: (it.low or 0.0, it.high or 0.0) for name, it in ratios.items()}
    outside = [name for name, it in ends.items() if it[0] > high or it[1] < low]
    crossing = [name for name, it in ends.items() if it[0] < low or it[1] > high]
    agreement: Answer
    if outside:
        agreement, where = DISAGREES, "outside"
    elif crossing:
        agreement, where = CANNOT_TELL, "which reaches beyond"
    else:
        agreement, where = AGREES, "within"
    used = ((NAMES[it], ratios[it]) for it in ratios if it in (outside or crossing or NAMES))
    values = " and ".join(f"{it} {of.value:.2f} ({of.low:.2f} to {of.high:.2f})" for it, of in used)
    return agreement, f"{tool} / JMeter: {values}, {where} {low:.2f} to {high:.2f}"


def _cpu(tool: str, used: Sequence[AutocannonResult], jmeter: CellData) -> str:
    """What each took from the cores that the server runs on too."""
    own = 1000 * sum(x.cpu_s for x in used) / sum(x.requests for x in used)
    other = 1000 * (jmeter.cores[0] * jmeter.window_s).sum() / jmeter.counts.sum()
    beside = f" and {other:.2g} ms of JMeter's" if np.isfinite(other) else ""
    return f"a request took {own:.2g} ms of {tool}'s CPU{beside}"


def _starved(jmeter: CellData) -> str:
    """Why the figures of JMeter's blocks are not those of a server at work, empty if they are: it
    had less than its core, and no more was left. Then who takes less CPU sees a faster server."""
    mean = jmeter.mean_cores
    if np.isnan(mean["service"]) or mean["service"] + mean["idle"] >= BUSY:
        return ""
    return (
        f"in JMeter's blocks the server had {mean['service']:.2f} cores and {mean['idle']:.2f} "
        "were idle: end what else runs on this machine, and measure again"
    )
