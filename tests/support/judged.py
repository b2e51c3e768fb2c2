"""Judged runs of every kind, for the tests of what is written about them."""

from dataclasses import replace

from hypothesis import strategies as st

from support.executions import counts, execution
from support.forecasts import facts, mixed
from support.watched_workers import leaking, reborn, watched
from tollgate.judge.facts import ExecutionFacts, JudgeSettings, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.schedule.model import ScheduleFacts

KEPT = (ScheduleFacts(("search",), intended=3000, sent=3000, generator_p99_ms=1.5),)
LOST = {"missing_generator": 100, "measured": 2900, "generator_far_late": 40}
LATE = (ScheduleFacts(("search",), 3000, 2900, **LOST),)
#: Of an execution without samples: nothing was late, for nothing was sent.
NONE_SENT = (ScheduleFacts(("search",), 3000, 0, 0, 0, 3000, *[float("nan")] * 4),)

LABELS = (
    *("<script>alert(1)</script>", "a|b", "a\\|b", "`rm`", "\"both\" 'quotes'", "two\nlines"),
    *("tab\tand\r\nreturn", "nul\x00bell\x07", "\033[2J\033[31mred", "half \ud83d of a pair"),
    *("snail 🐌", "日本語", "right \u202eto left", "& &amp; <!-- ]]>", "x" * 5000, "[a](http://b)"),
)


def criterion(label, subject="p95", limit="150ms"):
    """A criterion on a label that may hold anything."""
    return {"subject": subject, "label": label, "condition": ">", "threshold": limit}


def of_one(*criteria, **changes):
    """A run of one execution."""
    return MeasuredRun((execution(*criteria, **changes),))


def on_label(label, name="search-fork"):
    """A run of one label which fails."""
    return of_one(criterion(label), criterion(label, "fail", "0"), label=label, name=name)


def of_facts(*criteria, **facts):
    """A run of one execution with these facts about it."""
    return of_one(*criteria, facts=ExecutionFacts(**facts))


MANY = ("p95 of search>250ms", "p95 of search>195ms", "p95 of search>150ms", "fail of search>0%")
TRENDS = ("rss-slope of worker>20MB/min", "time-left<1h", "restarts>0", "cpu>90%")
TRENDS += ("p95-slope of search>1ms/min", "rss>1GB", "loop-delay-p95>50ms")
RELOADED = watched(reborn([[80] * 60, [80] * 60]), planned=[("0", 60.0)])
LEFT = facts(mixed(50), mixed(9), {"login": 3}, reached=2)
HOLDS = "p95 of search>250ms"

RUNS = {
    "nothing ran": MeasuredRun(()),
    "pass": of_one(HOLDS, response=counts(), schedules=KEPT),
    "pass, fail and inconclusive": of_one(*MANY),
    "fail": of_one("p95 of search>150ms", "hits<1"),
    "inconclusive": of_one("p99 of search>10s", service=counts(240, 30)),
    "invalid": of_one(HOLDS, schedules=LATE),
    "no samples": of_one("p95>1s", service=counts(0), schedules=NONE_SENT),
    "no criteria": of_one(),
    "cut off": of_facts(HOLDS, cut_off_line=3001),
    "stopped": of_facts("p95 of search>9s for 5s", stopped_by="p95 of search>9s for 5s"),
    "interrupted": MeasuredRun((execution(HOLDS),), interrupted=True),
    "a problem": replace(of_one("fail>0"), problems=("the run ended with an error: full",)),
    "kept to the forecast": of_one("p95>250ms", forecast=facts(*[mixed(50)] * 24)),
    "left the forecast": of_one("p95>250ms", forecast=LEFT),
    "two alike": MeasuredRun((execution("p95>250ms"), execution("p95>150ms"))),
    "windows": of_one("p95>150ms for 5s", "succ<1% over 5s, continue as non-failed"),
    "every subject": of_one(
        "avg-lt>1s", "avg-ct>1s", "stdev-rt>1s", "bytes>1kb", "concurr>1", "rc5??>0"
    ),
    "soak": of_one(
        *TRENDS,
        service=counts(3000, 120),
        resources=watched(leaking(60), leaking(0, name="1")),
    ),
    "reloaded": of_one("time-left<1h", service=counts(3000, 120), resources=RELOADED),
    "nobody watched": of_one("rss-slope of worker>20MB/min"),
    **{f"label {number}": on_label(label) for number, label in enumerate(LABELS)},
}


def judged(run, **settings):
    """(verdict, run), as the functions that write about it take them."""
    return judge(run, JudgeSettings(**settings)), run


LIMITS = [("p95", "150ms"), ("p99", "1h"), ("fail", "0"), ("succ", "50%")]
NAMES = st.text(st.characters(codec=None), min_size=1, max_size=12)


@st.composite
def runs(draw):
    """Runs of up to two executions, with any label, name, samples, lateness and accidents."""
    made = []
    for _ in range(draw(st.integers(0, 2))):
        label = draw(NAMES)
        service = counts(draw(st.sampled_from([0, 1, 50, 900])), 30, failed=draw(st.integers(0, 3)))
        subject, limit = draw(st.sampled_from(LIMITS))
        sent = draw(st.integers(0, 1000))
        schedule = ScheduleFacts((label,), 1000, sent, missing_generator=1000 - sent)
        facts = ExecutionFacts(
            generator_exit=draw(st.sampled_from([None, 0, 1])),
            machine_problems=tuple(draw(st.lists(NAMES, max_size=2))),
        )
        known = {"service": service, "label": label, "name": draw(NAMES), "facts": facts}
        known["schedules"] = draw(st.sampled_from([(), (schedule,)]))
        made.append(execution(criterion(label, subject, limit), **known))
    return MeasuredRun(tuple(made), draw(st.booleans()), tuple(draw(st.lists(NAMES, max_size=2))))
