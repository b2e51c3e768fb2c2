"""What a plan sends, and when, by its own choice is no fault of the generator; what the generator
did not send, or sent late, still is."""

import pytest

from support import jmx_text as jmx
from support import own_run
from support.early_ends import flow, loop, on_error, script
from support.jtl_rows import START_MS, row
from support.run_folder import reasons
from support.simulated import expected_schedules
from tollgate.gather import evidence
from tollgate.judge.judgement import judge
from tollgate.plan.read import read_plan
from tollgate.record import manifest
from tollgate.schedule.model import Schedule

DONE, BY_TIME = "Thread is done", "Stopping because end time detected by thread"
SCHEDULE = "rate(5/s) random_arrivals(10 s) pause(2 s)"
RENAMES = script("prev.setSampleLabel('a ' + prev.getResponseCode())")
IGNORES = script("if (prev.getTime() > 0) prev.setIgnore()")
A, B = jmx.sampler("a"), jmx.sampler("b")


def percent(share, *children):
    props = {"style": 1, "percentThroughput": share, "perThread": "false"}
    props = {f"ThroughputController__{name}": value for name, value in props.items()}
    return jmx.element("ThroughputController", f"{share} percent", children, **props)


def maybe(*children):
    return jmx.element("IfController", "maybe", children)


def critical(*children, lock="own"):
    props = {"CriticalSectionController__lockName": lock}
    return jmx.element("CriticalSectionController", "one at a time", children, **props)


class Judged:
    """Runs of a plan, with rows that a test makes up. facts: of the schedule of the latest one."""

    def __init__(self, folder, *groups):
        self.folder, self.text = folder, jmx.plan(*groups)
        (folder / "own.jmx").write_text(self.text)
        self.plan, self.facts = read_plan(folder / "own.jmx", {}), None

    @property
    def due_ms(self):
        """Of its only schedule."""
        (schedule,) = {
            id(it): it for it in expected_schedules(self.plan).values() if isinstance(it, Schedule)
        }.values()
        return (schedule.arrivals(10) * 1000).astype(int)

    def verdict(self, rows, words=None, ok=True):
        """rows: (moment, label, number of its thread) and, for more than 5 ms, how long it took.
        words: of JMeter's log on the only group, each with its number of threads."""
        name = f"{self.plan.groups[0].name} 1"
        lines = [
            row(int(at), *(took or [5]), label, thread=f"{name}-{number}", ok=ok) + f",{START_MS}"
            for at, label, number, *took in rows
        ]
        times = {"warmup": 0.0, "measured": 0.0, "thread_ends": words and {name: words}}
        own_run.make(self.folder, self.text, lines, "fail>5%", **times)
        measured = evidence.gather(self.folder, manifest.read(self.folder))
        self.facts = next(iter(measured[0].executions[0].schedules), None)
        return judge(*measured)


@pytest.fixture
def of(tmp_path):
    return lambda *groups: Judged(tmp_path, *groups)


def opened(*children):
    return jmx.open_group(*children, schedule=SCHEDULE)


def assert_blames(verdict, *words, by="generator"):
    assert verdict.verdict == "INVALID"
    assert by in {it.fault for it in verdict.reasons}
    for each in words:
        assert each in reasons(verdict)


def test_renamed_samples_are_those_of_their_arrivals_and_of_no_other_group(of):
    steady = jmx.group(jmx.sampler("free"), name="other", loops=5, duration=None, threads=1)
    run = of(opened(jmx.sampler("a", RENAMES)), steady)
    rows = [(at, "a 200", number) for number, at in enumerate(run.due_ms, 1)]
    verdict = run.verdict(rows)
    assert run.facts.labels == ("a 200",)
    assert (run.facts.missing, run.facts.unasked) == (0, 0)
    assert "not sent" not in reasons(verdict)


def test_renamed_samples_that_were_late_or_not_sent_are_the_generators(of):
    run = of(opened(jmx.sampler("a", RENAMES)))
    late = [(at + 3000, "a 200", number) for number, at in enumerate(run.due_ms, 1)]
    assert_blames(run.verdict(late), "more than 1 s late")
    assert_blames(run.verdict(late[:30]), "of 50 scheduled requests of a 200 were not sent")


def test_a_timers_samples_that_are_all_of_it_may_have_any_label(of):
    run = of(jmx.group(jmx.sampler("a", RENAMES), jmx.timer(throughput=5)))
    rows = [(at, f"a {at % 3}", at % 4 + 1) for at in run.due_ms]
    assert run.verdict(rows).verdict == "PASS"
    assert_blames(run.verdict(rows[: len(rows) // 2]), "were not sent: the generator was too slow")


UNSURE = {
    "any of the group's": (RENAMES, jmx.sampler("a", jmx.timer(throughput=5)), B),
    "ignored": (jmx.sampler("a", IGNORES, jmx.timer(throughput=5)), B),
}


@pytest.mark.parametrize("how", UNSURE)
def test_a_timers_samples_that_may_be_others_are_all_there_or_prove_nothing(of, how):
    run = of(jmx.group(*UNSURE[how]))
    rows = [(at, "a", at % 4 + 1) for at in run.due_ms]
    assert run.verdict(rows).verdict == "PASS"
    assert run.facts.missing == 0
    assert_blames(run.verdict([(at + 3000, *it) for at, *it in rows]), "more than 1 s late")
    verdict = run.verdict(rows[::2])
    assert run.facts is None
    assert_blames(verdict, "scheduled requests of a have no sample", "a script may", by="machine")
    assert "too slow" not in reasons(verdict)


CHOICES = {
    "percentages that meet in none": (percent(70, A), percent(30, B)),
    "a condition": (maybe(A),),
    "a loop of 0 and a condition": (loop(0, B), maybe(A)),
    "a Switch Controller that no part fits": (jmx.element("SwitchController", "one", [A, B]),),
    "a script that ignores samples": (jmx.sampler("a", IGNORES),),
    "an action that ends its thread": (maybe(flow(0)), A),
}


NO_LOG = "JMeter's log does not show how its threads ended"


@pytest.mark.parametrize("how", CHOICES)
def test_an_arrival_for_which_the_plan_sends_nothing_is_told_and_no_fault(of, how):
    run = of(opened(*CHOICES[how]))
    due_ms = run.due_ms
    rows = [(at, "a", number) for number, at in enumerate(due_ms, 1) if number % 3]
    verdict = run.verdict(rows, {DONE: len(due_ms)})
    assert verdict.verdict == "PASS"
    assert run.facts.unasked == len(due_ms) // 3
    (told,) = [it for it in verdict.executions[0].warnings if "by its own choice" in it]
    assert told.startswith(f"for {len(due_ms) // 3} of {len(due_ms)} arrivals")
    # Whether the others were through, and sent nothing, only the log shows.
    assert_blames(run.verdict(rows), f"{len(due_ms) // 3} scheduled", NO_LOG, by="machine")


@pytest.mark.parametrize("how", CHOICES)
def test_arrivals_that_jmeter_did_not_carry_out_are_the_generators(of, how):
    run = of(opened(*CHOICES[how]))
    due_ms = run.due_ms
    rows = [(at, "a", number) for number, at in enumerate(due_ms[:30], 1) if number % 3]
    verdict = run.verdict(rows, {DONE: 30})
    assert_blames(verdict, f"{len(due_ms) - 30} of ", "the generator was too slow")
    assert run.facts.unasked == 10
    # Without a log: of three arrivals in a row one sent something, and then none of so many.
    assert_blames(run.verdict(rows), f"{len(due_ms) - 29} of ", "the generator was too slow")
    assert_blames(run.verdict([(at + 3000, *it) for at, *it in rows]), "more than 1 s late")


def test_an_arrival_that_sends_something_for_certain_is_missed(of):
    run = of(opened(loop(0, B), maybe(B), A))
    rows = [(at, "a", number) for number, at in enumerate(run.due_ms, 1) if number % 3]
    assert_blames(run.verdict(rows, {DONE: 50}), "were not sent")


def serial(due_ms, took, lost=0):
    """One after the other, each `lost` ms after the one before it."""
    free, rows = 0, []
    for number, at in enumerate(due_ms, 1):
        begin = max(at, free)
        rows.append((begin, "a", number, took))
        free = begin + took + lost
    return rows


GROUPS = {
    "arrivals": lambda *children: opened(*children),
    "a timer's": lambda *children: jmx.group(*children, jmx.timer(throughput=5), threads=50),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_a_wait_for_a_critical_section_is_the_plans(of, kind):
    run = of(GROUPS[kind](critical(A)))
    end_ms = 12_000 if run.plan.groups[0].is_open_model else 10_000
    rows = [it for it in serial(run.due_ms, 700) if it[0] < end_ms]
    verdict = run.verdict(rows)
    where = "they waited for the Critical Section 'one at a time' of the plan"
    assert_blames(verdict, "not sent: they waited for", "s late: they waited", where, by="operator")
    assert {it.fault for it in verdict.reasons if it.verdict == "INVALID"} == {"operator"}
    facts = run.facts
    assert (facts.generator_far_late, facts.missing_generator, facts.missing_service) == (0, 0, 0)


@pytest.mark.parametrize("kind", GROUPS)
def test_lateness_while_a_critical_section_was_free_is_the_generators(of, kind):
    run = of(GROUPS[kind](critical(jmx.sampler("a"))))
    rows = serial(run.due_ms, 5, lost=600)
    assert_blames(run.verdict([it for it in rows if it[0] < 10_000]), "the generator sent ")
    assert_blames(run.verdict(serial(run.due_ms, 5)[:30]), "the generator was too slow")


LOOSE = {
    "another lock": critical(B, lock="other"),
    "an unknown lock": critical(B, lock="${name}"),
    "no lock": critical(B, lock=""),
    "a label of others too": critical(B) + B,
}


@pytest.mark.parametrize("others", LOOSE)
def test_who_may_not_have_had_the_lock_explains_no_wait(of, others):
    busy = jmx.group(LOOSE[others], name="other", threads=1)
    run = of(opened(critical(A)), busy)
    rows = [(at + 1500, "a", number) for number, at in enumerate(run.due_ms, 1)]
    rows += [(at, "b", 1, 1000) for at in range(0, 12_000, 1000)]
    assert_blames(run.verdict(rows), "the generator sent ")


def test_a_section_that_locks_nothing_or_one_of_several_explains_no_wait(of):
    for sections in (
        critical(A, lock=""),
        critical(A, lock="${name}"),
        critical(critical(A), lock="x"),
    ):
        run = of(opened(sections))
        assert_blames(run.verdict(serial(run.due_ms, 700)), "the generator sent ")


VISITS = (jmx.timer(throughput=5), jmx.element("OnceOnlyController", "once", [A]), B)


def looped(*children, loops=2, **more):
    return jmx.group(*children, loops=loops, threads=4, **more)


def test_finite_loops_ask_for_what_they_can(of):
    run = of(looped(*VISITS))
    due_ms, labels = run.due_ms, "aaaabbbbbbbb"
    assert len(due_ms) == 12
    rows = [
        (at, label, number % 4 + 1)
        for number, (at, label) in enumerate(zip(due_ms, labels, strict=True))
    ]
    assert run.verdict(rows).verdict == "PASS"
    assert_blames(run.verdict(rows[:8]), "4 of 12 scheduled requests", "the generator was too slow")


def test_loops_that_were_through_asked_for_no_more_and_others_did(of):
    run = of(looped(jmx.timer(throughput=5), A, maybe(B), loops=5))
    due_ms = run.due_ms
    assert len(due_ms) == 40
    rows = [(at, "a", number % 4 + 1) for number, at in enumerate(due_ms[:27])]
    assert run.verdict(rows, {DONE: 4}).verdict == "PASS"
    assert_blames(run.verdict(rows[:15], {DONE: 4}), "5 of 20 scheduled requests")
    # A thread without an end in the log may have had to send more.
    assert_blames(run.verdict(rows, {DONE: 3}), "13 of 40 scheduled requests")
    assert_blames(run.verdict(rows), "13 scheduled", NO_LOG, by="machine")
    assert_blames(run.verdict(rows, {BY_TIME: 4}), "13 of 40 scheduled requests")


def test_a_turn_that_may_pass_its_timer_by_has_no_schedule(of):
    run = of(jmx.group(maybe(jmx.sampler("a", jmx.timer())), B))
    assert "'maybe' decides how often it is sent" in expected_schedules(run.plan)["a"]


STOPPED = {
    "an action of the plan": ((flow(0),), {}, True, "TestAction 'enough' ended", "operator"),
    "an action after an error": ((), on_error("stopthread"), False, "sampler error", "service"),
    "nobody knows what": ((), {}, True, "JMeter logged of threads is 'Stop", "generator"),
}


@pytest.mark.parametrize("how", STOPPED)
def test_what_was_not_sent_has_the_cause_that_the_log_shows(of, how):
    children, more, is_ok, words, by = STOPPED[how]
    run = of(jmx.group(jmx.sampler("a", jmx.timer(throughput=5)), *children, **more))
    rows = [(at, "a", number % 4 + 1) for number, at in enumerate(run.due_ms[:20])]
    ended = {"Stop Thread detected by thread": 4}
    assert_blames(run.verdict(rows, ended, ok=is_ok), "not sent: ", words, by=by)


def test_threads_that_stop_at_an_error_and_never_began_are_no_choice_of_the_plan(of):
    timed = jmx.sampler("a", jmx.timer(throughput=5))
    run = of(looped(timed, loops=10, **on_error("stopthread")))
    rows = [(at, "a", number % 4 + 1) for number, at in enumerate(run.due_ms[:8])]
    assert_blames(run.verdict(rows, {DONE: 2}), "32 of 40 scheduled requests", "too slow")
    assert_blames(run.verdict(rows), "32 scheduled requests", NO_LOG, by="machine")
