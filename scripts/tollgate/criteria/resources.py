"""Criteria on the workers of a target, and on how a value changes over a run.

What each subject is, by the name that it has in taurus.yml; `worker` may be left out. Each worker
is judged by itself, and the worst of them decides and is named. The warm-up is left out of all but
`restarts`, and so is that of a process that was started again. None takes a window (`for 10s`):

    rss-slope of worker>1MB/min       how fast the memory (RSS) of a process grows; where a worker
                                      had several processes, that of each, and the worst counts
    time-left of worker<24h           how long until RSS reaches the memory limit at that slope
    rss of worker>400MB               the most that any look saw
    cpu of worker>90%                 of one core, on average
    loop-delay-p50 of worker>20ms     event-loop delay: the mean, over the seconds of the run, of
    loop-delay-p95 of worker>50ms     its median, or 95th percentile, within each second
    restarts of worker>0              processes that were started again, planned reloads apart
    p95-slope of search>1ms/min       how fast a percentile of the answers' times grows; any
                                      percentile, and a label like that of p95

Units: B, KB, MB, GB or KiB, MiB, GiB (1024 of the one before) per s, min or h; ms or s per s, min
or h. Results are in MB/min, ms/min, MB, min, % and ms.

A percentile of the whole run can't be had from the percentiles of its seconds. Their mean stands
for it rather than their median, which would say nothing of a loop that stands still in every third
second, and rather than a percentile of theirs, which a run of a minute or two can't settle.
"""

from __future__ import annotations

WORKER = "worker"
MIB = 1024**2
SLOPE = "-slope"
#: Units of slopes in results: of the workers' memory, and of a percentile.
MEMORY_SLOPE, LATENCY_SLOPE = "MB/min", "ms/min"
#: The unit in results of each of the workers' subjects.
WORKER_SUBJECTS = {
    "rss-slope": MEMORY_SLOPE,
    "time-left": "min",
    "rss": "MB",
    "cpu": "%",
    "loop-delay-p50": "ms",
    "loop-delay-p95": "ms",
    "restarts": "count",
}


def is_whole_run(name: str) -> bool:
    """Whether a subject knows no window of time."""
    return name in WORKER_SUBJECTS or name.endswith(SLOPE)


def read_label(name: str, label: str) -> str:
    """The label of a subject, which for the workers' is always the same. Raises ValueError."""
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
