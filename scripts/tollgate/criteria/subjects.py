"""What a criterion may be about: its subject and its condition, each read strictly.

Every reader raises ValueError(field, value, problem, next step). SUBJECTS are Taurus's. Tollgate's
own are on the workers of a target, and on how a percentile changes over a run.

What each subject is, by the name that it has in taurus.yml; `worker` may be left out. Each worker
is judged by itself, and the worst of them decides and is named; `cpu-per-request` is about all of
them together. The warm-up is left out of all but `restarts`, and so is that of a process that was
started again. None takes a window (`for 10s`):

    rss-slope of worker>1MB/min       how fast the memory (RSS) of a process grows; where a worker
                                      had several processes, that of each, and the worst counts
    time-left of worker<24h           how long until RSS reaches the memory limit at that slope
    rss of worker>400MB               the most that any look saw
    cpu of worker>90%                 of one core, on average
    loop-delay-p50 of worker>20ms     event-loop delay: the mean, over the seconds of the run, of
    loop-delay-p95 of worker>50ms     its median, or 95th percentile, within each second
    cpu-per-request of worker>5ms     CPU time of all workers of the target together, and of what
                                      they have started, for each answer of the execution
    restarts of worker>0              processes that were started again, planned reloads apart
    p95-slope of search>1ms/min       how fast a percentile of the answers' times grows; any
                                      percentile, and a label like that of p95

That of a search for capacity (docs/capacity.md) has the name of an execution for its label, and is
left out for the others:

    capacity of fork<120/s            the highest rate of arrivals that keeps the limits

Units: B, KB, MB, GB or KiB, MiB, GiB (1024 of the one before) per s, min or h; ms or s per s, min
or h. Results are in MB/min, ms/min, MB, min, % and ms.

A percentile of the whole run can't be had from the percentiles of its seconds. Their mean stands
for it rather than their median, which would say nothing of a loop that stands still in every third
second, and rather than a percentile of theirs, which a run of a minute or two can't settle.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Final, Literal, overload

from tollgate.base.text import closest
from tollgate.stats.response_codes import NAMES as CLASSES
from tollgate.stats.response_codes import PREFIX, class_of

Condition = Literal["<", "<=", "=", ">", ">="]
#: Of results.
Unit = Literal["ms", "%", "count", "bytes", "users", "MB", "min", "MB/min", "ms/min", "/s"]
WORKER = "worker"
CPU_PER_REQUEST = "cpu-per-request"
MIB = 1024**2
SLOPE = "-slope"
#: Units of slopes in results: of the workers' memory, and of a percentile.
MEMORY_SLOPE: Final = "MB/min"
LATENCY_SLOPE: Final = "ms/min"
#: The unit in results of each of the workers' subjects.
WORKER_SUBJECTS: dict[str, Unit] = {
    "rss-slope": MEMORY_SLOPE,
    "time-left": "min",
    "rss": "MB",
    "cpu": "%",
    CPU_PER_REQUEST: "ms",
    "loop-delay-p50": "ms",
    "loop-delay-p95": "ms",
    "restarts": "count",
}
CAPACITY = "capacity"
RATE: Final = "/s"
#: Each as a function of value and limit, which is true where the run fails.
CONDITIONS: dict[Condition, Callable[[float, float], bool]] = {
    "<": lt,
    "<=": le,
    "=": eq,
    ">": gt,
    ">=": ge,
}
# Names that Taurus takes, by the one that Tollgate shows. Taurus takes anything that begins with
# succ, fail or concurr, so that `fails` and `failing` work and so would `failover`.
SUBJECTS: dict[str, tuple[Unit, tuple[str, ...]]] = {
    "avg-rt": ("ms", ("avg-rt",)),
    "avg-lt": ("ms", ("avg-lt",)),
    "avg-ct": ("ms", ("avg-ct",)),
    "stdev-rt": ("ms", ("stdev-rt",)),
    "hits": ("count", ("hits",)),
    "succ": ("count", ("succ", "success", "successes", "successful")),
    "fail": ("count", ("fail", "fails", "failed", "failure", "failures", "failing")),
    "concurr": ("users", ("concurr", "concurrency", "concurrent")),
    "bytes": ("bytes", ("bytes",)),
}
NAMES = tuple(SUBJECTS)
ALIASES = {alias: name for name, (_, aliases) in SUBJECTS.items() for alias in aliases}
PERCENT_SUBJECTS = ("succ", "fail")


#: Fail, any code of a server's error, and what JMeter writes where no answer came.
_FAILURES = re.compile(r"fail|rc(5.*|.*(Exception|Error))")


def is_better_low(name: str, unit: str) -> bool:
    """Whether a low value is never a reason to fail: a time, a slope, a failure, or what a worker
    needs."""
    is_of_workers = name in WORKER_SUBJECTS and name != "time-left"
    return is_of_workers or unit in ("ms", LATENCY_SLOPE) or bool(_FAILURES.fullmatch(name))


def is_whole_run(name: str) -> bool:
    """Whether a subject knows no window of time."""
    return name in WORKER_SUBJECTS or name == CAPACITY or name.endswith(SLOPE)


def read_label(name: str, label: str) -> str:
    """The label of a subject, which for the workers' is always the same. Raises ValueError."""
    if name == CAPACITY and not label:
        step = "write 'capacity of fork<120/s'"
        raise ValueError("label", label, "the capacity of which execution is not said", step)
    if name not in WORKER_SUBJECTS:
        return label
    if label not in ("", WORKER):
        step = f"write '{name} of {WORKER}'"
        problem = f"{name} is measured on the target's workers, not on samples"
        raise ValueError("label", label, problem, step)
    return WORKER


def refuse_window(name: str, timeframe: object) -> None:
    """Raises ValueError if a window stands behind a subject that is about the whole run."""
    if timeframe is not None and is_whole_run(name):
        problem = f"{name} is judged over the whole run"
        raise ValueError("timeframe", timeframe, problem, "leave the window out")


@dataclass(frozen=True)
class Subject:
    """What is measured; `unit` is ms, bytes, users or count, or one of WORKER_SUBJECTS. pattern is
    set for rc<pattern>."""

    name: str
    unit: Unit
    percentile: float | None = None
    pattern: str | None = None

    @property
    def takes_percent(self) -> bool:
        return self.name in PERCENT_SUBJECTS or self.pattern is not None


@overload
def read_subject(value: object, required: Literal[True]) -> Subject: ...
@overload
def read_subject(value: object) -> Subject | None: ...
def read_subject(value: object, required: bool = False) -> Subject | None:
    """The subject of that name; None if there is none, or ValueError if it is required."""
    text = str(value or "").strip()
    if text in ALIASES:
        name = ALIASES[text]
        return Subject(name, SUBJECTS[name][0])
    if text in WORKER_SUBJECTS:
        return Subject(text, WORKER_SUBJECTS[text])
    if text == CAPACITY:
        return Subject(text, RATE)
    if re.fullmatch(rf"p\d+(\.\d+)?({SLOPE})?", text):
        return _percentile(text, required)
    if re.fullmatch(rf"rc({PREFIX})?[\w?*.$-]+", text):
        return _response_code(text, required)
    if not required:
        return None
    if class_of(text) in CLASSES:
        step = f"did you mean 'rc{class_of(text)}'?"
        raise ValueError("subject", text, "the name of a class, not a subject", step)
    examples = [*ALIASES, *WORKER_SUBJECTS, CAPACITY, "p95", "p90", "p99", "rc500"]
    near = difflib.get_close_matches(text, examples, 1, 0.5)
    names = ", ".join((*NAMES, *WORKER_SUBJECTS))
    forms = f"known are {names}, p<percentile>, p<percentile>{SLOPE} and rc<code>"
    step = f"did you mean '{near[0]}'?" if near else forms
    raise ValueError("subject", text, "unknown", step)


def _percentile(text: str, required: bool) -> Subject:
    is_slope = text.endswith(SLOPE)
    percentile = float(text[1:].removesuffix(SLOPE))
    if required and not 0 < percentile < 100:
        # p100 is the one slowest sample: with more samples it only grows, and no interval holds it.
        step = "choose one above 0 and below 100, such as p95"
        raise ValueError("subject", text, "not a percentile that samples can settle", step)
    if is_slope:
        return Subject(f"p{percentile:g}{SLOPE}", LATENCY_SLOPE, percentile=percentile)
    return Subject(f"p{percentile:g}", "ms", percentile=percentile)


def _response_code(text: str, required: bool) -> Subject:
    mask = text[2:]
    if required and re.fullmatch(r"[0-9?xX]+", mask):
        fixed = mask.replace("x", "?").replace("X", "?")
        if fixed != mask:
            step = f"did you mean 'rc{fixed}'?"
            raise ValueError("subject", text, "'x' stands for itself in Taurus", step)
        if not re.fullmatch(r"[1-9?][0-9?]{2}", mask):
            step = "write three digits or ?, as in rc500 or rc5??"
            raise ValueError("subject", text, "no HTTP response code looks like that", step)
    elif required:
        _check_class(text, mask)
    return Subject(text, "count", pattern=mask)


def _check_class(text: str, mask: str) -> None:
    """Refuses a mask that matches no response code of JMeter's, so that its criterion would pass
    whatever happened."""
    has_wildcard, name = bool(re.search(r"[?*]", mask)), class_of(mask)
    if name == mask and (has_wildcard or name in CLASSES):
        return
    if name == mask:
        problem = "no known response code of JMeter has that name"
    else:
        problem = "a class is written by its own name, without what stands before it"
    stem = name.strip("?*")
    near = name if name in CLASSES or (stem and stem != name) else closest(name, CLASSES)
    if near:
        step = f"did you mean 'rc{near}'? A code that the plan itself sets takes a wildcard"
    elif stem[:1].isalpha():
        step = f"write 'rc{stem}*' for a code that the plan itself sets"
    else:
        step = "write a name such as rcSocketTimeoutException, or rc*Exception for all of them"
    raise ValueError("subject", text, problem, step)


def read_condition(value: object) -> Condition:
    """The condition of that sign. Raises ValueError."""
    text = "=" if value == "==" else str(value or "")
    for condition in CONDITIONS:
        if condition == text:
            return condition
    turned = {"=<": "<=", "=>": ">="}.get(text)
    step = f"did you mean '{turned}'?" if turned else f"known are {', '.join(CONDITIONS)}"
    raise ValueError("condition", text, "unknown", step)
