"""Thread groups that ended before the time that their plan states."""

import shutil

import pytest

from support import jmx_text as jmx
from support import own_run, run_folder
from support.golden_lines import FOLDER
from support.jtl_rows import jtl, row
from support.plan_files import PLAN_FILES, id_of
from tollgate.judge.ended_early import EarlyEnds, SampledThreads, Thread, early_ends
from tollgate.plan.bounds import stops_of
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import expander_of, read_plan
from tollgate.samples.threads import longest_gaps, thread_rows

HOME = jmx.sampler("home")
CSV = {"stopThread": "true", "recycle": "false"}


@pytest.fixture
def found(tmp_path):
    """What of a plan of these groups ended early. threads: of each group, in the plan's order."""

    def find(*groups, threads=None, whole=None, until_s=None, extra="", around=(), **came):
        path = tmp_path / "plan.jmx"
        test = jmx.element("TestPlan", "plan", [*around, *groups], extra=extra)
        path.write_text(jmx.document(test))
        plan, root = read_plan(path, {}), read_tree(path, {})
        by_place = threads and {
            place: dict(enumerate(each, 1)) for place, each in enumerate(threads)
        }
        everything = whole or summed([it for each in threads for it in each])
        seen = SampledThreads(everything, by_place, **came)
        return early_ends(plan, stops_of(root, expander_of(root, {})), seen, until_s)

    return find


def summed(threads):
    samples = {}
    for thread in threads:
        for label, n in thread.samples.items():
            samples[label] = samples.get(label, 0) + n
    return Thread(samples, max(it.last_end_s for it in threads))


def sent(last_end_s, **samples):
    return Thread(samples or {"home": 9}, last_end_s)


def users(*children, threads=2, duration=60, **changes):
    fields = {"name": "users", "threads": threads, "duration": duration}
    return jmx.group(*(children or (HOME,)), **(fields | changes))


def plugin(kind="Concurrency", **changes):
    """60 s of them."""
    return jmx.plugin_group(
        HOME, kind=kind, name="users", **{"TargetLevel": 3, "Hold": 1} | changes
    )


def looping(*children, loops=20, **changes):
    return users(*children, loops=loops, duration=None, **changes)


def controller(kind, *children, **props):
    return jmx.element(kind, "around", children, **props)


def loop(times, *children):
    return controller("LoopController", *children, LoopController__loops=times)


def on_error(action):
    return {"ThreadGroup__on_sample_error": action}


def script(text, kind="JSR223PostProcessor", **props):
    return jmx.element(kind, "sign", script=text, **props)


def flow(action, target=0):
    props = {"ActionProcessor__action": action, "ActionProcessor__target": target}
    return jmx.element("TestAction", "enough", **props)


def faults(ends):
    """Whose fault each is: whether the service's, with the text."""
    assert ends.doubts == ()
    return [(it.by_service, it.line) for it in ends.faults]


def doubt(ends):
    assert ends.faults == ()
    (line,) = ends.doubts
    return line


BOTH = [sent(14.2), sent(14.1)]


def test_what_stops_a_test_after_a_sampler_error_is_told_with_its_time(found):
    ended = found(users(**on_error("stoptest")), threads=[BOTH], failed=["home"])
    assert faults(ended) == [
        (
            True,
            "the thread group 'users' ended after 14.2 s of the 60 s that the plan says: its "
            "action after a sampler error stops the test; see jmeter.log",
        )
    ]


CAUSES = {
    "stop now": (on_error("stoptestnow"), (), ["home"], True, "stops the test at once"),
    "stop the thread": (on_error("stopthread"), (), ["home"], True, "stops the thread"),
    "no error": (on_error("stoptest"), (), [], False, "something outside of the plan"),
    "goes on": ({}, (), ["home"], False, "something outside of the plan"),
    "a script": ({}, (script("ctx.getEngine().stopTest()"),), [], False, "Processor 'sign' may"),
    "an action": ({}, (flow(0, target=2),), ["home"], True, "TestAction 'enough' may"),
}


@pytest.mark.parametrize("how", CAUSES)
def test_the_cause_is_named_where_the_plan_shows_it(found, how):
    changes, children, failed, by_service, words = CAUSES[how]
    group = users(HOME, *children, **changes)
    ((whose, line),) = faults(found(group, threads=[BOTH], failed=failed))
    assert (whose, words in line) == (by_service, True)


def test_another_groups_error_may_stop_the_test(found):
    other = jmx.group(jmx.sampler("pay"), name="buyers", loops=1, duration=None, threads=1)
    stopping = other.replace("</ThreadGroup>", _property("on_sample_error", "stoptest"))
    threads = [BOTH, [sent(14.2, pay=1)]]
    ((by_service, line),) = faults(found(users(), stopping, threads=threads, failed=["pay"]))
    assert by_service
    assert "the action of 'buyers' after a sampler error stops the test" in line


def _property(name, value):
    return f'<stringProp name="ThreadGroup.{name}">{value}</stringProp></ThreadGroup>'


IN_TIME = {
    "at its end": (users(), [[sent(60.0), sent(59.2)]], {}),
    "beyond it, with a slow last answer": (users(), [[sent(75.0), sent(60.0)]], {}),
    "in its last pause": (
        users(HOME, jmx.constant_timer(8000), jmx.think(ms=4000)),
        [[sent(40), sent(41)]],
        {},
    ),
    "after its delay": (users(ThreadGroup__delay=5), [[sent(64.5), sent(64.5)]], {}),
    "paced, as seen": (
        users(jmx.sampler("home", jmx.element("ConstantThroughputTimer", "pace"))),
        [[sent(50), sent(45)]],
        {"gaps": lambda: {0: 5.0}},
    ),
    "silent for longer before": (users(), [[sent(50), sent(51)]], {"gaps": lambda: {0: 4.0}}),
    "its loops before its duration": (users(loops=9), [[sent(14), sent(14)]], {}),
    "its loops": (looping(loops=9), [[sent(14), sent(14)]], {}),
    "loops in loops": (
        looping(loop(3, HOME, loop(2, jmx.sampler("pay"))), loops=2),
        [[sent(3, home=6, pay=12), sent(3, home=6, pay=13)]],
        {},
    ),
    "the next loop after an error": (
        looping(loop(3, jmx.sampler("in"), HOME), loops=4, **on_error("startnextloop")),
        [[Thread({"in": 4}, 3), Thread({"in": 5, "home": 1}, 3)]],
        {"failed": ["in"]},
    ),
    "a script that jumps": (
        looping(loop(3, HOME, script("ctx.setTestLogicalAction(x)")), loops=9),
        [BOTH],
        {},
    ),
    "a script in a file": (
        looping(loop(3, HOME, script("", filename="a.groovy")), loops=9),
        [BOTH],
        {},
    ),
    "labels that a script has changed": (looping(loops=9), [[sent(9, other=9), sent(9, o=9)]], {}),
    "parent samples": (
        looping(
            controller("TransactionController", HOME, HOME, TransactionController__parent="true"),
            loops=4,
        ),
        [[sent(9, around=4), sent(9, around=4)]],
        {},
    ),
    "STOP_AFTER": (users(), [[sent(25), sent(24.5)]], {"until_s": 25.0}),
    "STOP_AFTER in its loops": (looping(), [[sent(25), sent(24.5)]], {"until_s": 25.0}),
    "STOP_AFTER before its start": (users(ThreadGroup__delay=30), [[]], {"until_s": 25.0}),
    "a thread that had no time to start": (
        users(threads=3, ThreadGroup__ramp_time=88),
        [[sent(60), sent(60)]],
        {},
    ),
    "no sample, of which others tell": (users(), [[]], {}),
    "a thread group of a plugin, of unknown length": (
        users(kind="kg.apc.jmeter.threads.SteppingThreadGroup"),
        [BOTH],
        {},
    ),
    "a thread group of a plugin": (plugin(), [[sent(59.5)]], {"ended_s": 61.0}),
    "a plugin's last arrival": (
        plugin(kind="Arrivals"),
        [[sent(40)]],
        {"whole": sent(60), "ended_s": 61.0},
    ),
    "for ever, until STOP_AFTER": (looping(loops=-1), [[sent(25), sent(24)]], {"until_s": 25.0}),
    "for ever, until a script ends it": (
        looping(HOME, script("ctx.getThread().stop()"), loops=-1),
        [BOTH],
        {"failed": ["home"]},
    ),
    "for ever, until its file ends": (
        looping(HOME, jmx.element("CSVDataSet", "accounts", **CSV), loops=-1),
        [BOTH],
        {},
    ),
    "a duration that nobody knows": (users(duration="${__time()}"), [BOTH], {}),
    "loops that nobody knows": (users(loops="${__time()}"), [BOTH], {}),
    "nothing certain in its loops": (looping(controller("IfController", HOME)), [BOTH], {}),
    "a schedule, which says what is missing": (
        users(jmx.sampler("home", jmx.timer(duration=60)), duration=60),
        [BOTH],
        {},
    ),
    "arrivals": (jmx.open_group(HOME, name="users"), [BOTH], {}),
    "an arrival that an error ends": (
        jmx.open_group(HOME, name="users", seed=0, **on_error("stopthread")),
        [BOTH],
        {"failed": ["home"]},
    ),
}


@pytest.mark.parametrize("how", IN_TIME)
def test_a_group_that_ended_in_time_is_not_accused(found, how):
    group, threads, came = IN_TIME[how]
    if threads == [[]]:
        came = came | {"whole": sent(25)}
    assert found(group, threads=threads, **came) == EarlyEnds()


EARLY = {
    "a plugin's, stopped by an error": (
        plugin(**on_error("stoptest")),
        [[sent(14.2)]],
        {"failed": ["home"], "ended_s": 15.0},
        "ended after 14.2 s of the 60 s that the plan says: its action after a sampler error stops",
    ),
    "a plugin's arrivals, by nobody knows what": (
        plugin(kind="Arrivals"),
        [[sent(14.2)]],
        {"ended_s": 15.0},
        "ended after 14.2 s of the 60 s that the plan says: an error of JMeter's",
    ),
    "a plugin's, and others went on": (
        plugin(),
        [[sent(14.2)]],
        {"ended_s": 90.0},
        "ended after 14.2 s of the 60 s",
    ),
    "a plugin's of unknown length, met by errors": (
        plugin(kind="Stepping", **on_error("stoptest")),
        [[sent(14.2)]],
        {"failed": ["home"]},
        "met sampler errors, after which it stops the test",
    ),
    "before its last pause": (
        users(HOME, jmx.constant_timer(8000), jmx.think(ms=4000)),
        [[sent(38), sent(38)]],
        {},
        "ended after 38 s of the 60 s",
    ),
    "before its delay and duration": (
        users(ThreadGroup__delay=5),
        [[sent(50), sent(60)]],
        {},
        "ended after 55 s of the 60 s",
    ),
    "longer than any pause that was seen": (
        users(jmx.sampler("home", jmx.element("ConstantThroughputTimer", "pace"))),
        [[sent(20), sent(25)]],
        {"gaps": lambda: {0: 5.0}},
        "ended after 25 s of the 60 s",
    ),
    "one thread of two": (users(), [[sent(60), sent(14)]], {}, "1 of 2 threads of the thread"),
    "a thread that never sent": (users(), [[sent(60)]], {}, "1 of 2 threads of the thread"),
    "in its loops": (looping(), [BOTH], {}, "ended early, with 18 of 40 samples of 'home'"),
    "one thread of two, in its loops": (
        looping(),
        [[sent(30, home=20), sent(14, home=6)]],
        {},
        "1 of 2 threads of the thread group 'users' ended early, with 6 of 20 samples of 'home'",
    ),
    "its one loop, at the first of its samplers": (
        looping(HOME, jmx.sampler("pay"), loops=1, **on_error("stoptest")),
        [[sent(1, home=1), sent(1, home=1)]],
        {},
        "ended early, with 0 of 2 samples of 'pay'",
    ),
    "in an endless loop in it": (users(loop(-1, HOME), loops=1), [BOTH], {}, "after 14.2 s of"),
    "in its loops, before its duration": (users(loops=20), [BOTH], {}, "after 14.2 s of the 60 s"),
    "before STOP_AFTER": (
        users(),
        [BOTH],
        {"until_s": 25.0},
        "ended after 14.2 s of the 25 s that the load lasted",
    ),
    "in its loops, before STOP_AFTER": (looping(), [BOTH], {"until_s": 25.0}, "of the 25 s that"),
    "JMeter was gone before its pause was over": (
        users(HOME, jmx.think(ms=50_000)),
        [[sent(14), sent(14)]],
        {"ended_s": 15.0},
        "ended after 14 s of the 60 s",
    ),
    "JMeter was gone, whatever it sends": (
        users(controller("RandomController", HOME)),
        [BOTH],
        {"ended_s": 15.0},
        "ended after 14.2 s of the 60 s",
    ),
    "for ever, and nothing in the plan ends it": (
        looping(loops=-1),
        [BOTH],
        {},
        "for ever: an err",
    ),
    "for ever, and an error stops it": (
        looping(HOME, jmx.element("CSVDataSet", "all", **CSV), loops=-1, **on_error("stoptest")),
        [BOTH],
        {"failed": ["home"]},
        "it goes on for ever: its action after a sampler error stops the test",
    ),
    "for ever, before STOP_AFTER": (looping(loops=-1), [BOTH], {"until_s": 25.0}, "of the 25 s"),
    "by an error, and nothing certain in its loops": (
        looping(controller("IfController", HOME), **on_error("stoptest")),
        [BOTH],
        {"failed": ["home"]},
        "met sampler errors, after which it stops the test: what is missing is not known",
    ),
    "setting up": (users(kind="SetupThreadGroup"), [BOTH], {}, "after 14.2 s of the 60 s"),
    "tearing down": (looping(kind="PostThreadGroup"), [BOTH], {}, "18 of 40 samples of 'home'"),
    "nobody knows whose samples they are": (
        users(),
        None,
        {"whole": sent(14.0)},
        "ended after 14 s of the 60 s",
    ),
    "nobody knows whose loops they are": (
        looping(),
        None,
        {"whole": sent(14.0, home=39)},
        "ended early, with 39 of 40 samples of 'home'",
    ),
}


@pytest.mark.parametrize("how", EARLY)
def test_a_group_that_ended_early_is_a_fault(found, how):
    group, threads, came, words = EARLY[how]
    ((_, line),) = faults(found(group, threads=threads, **came))
    assert words in line
    assert line.endswith("see jmeter.log")


NOT_SURE = {
    "a file that came to its end": (users(), (jmx.element("CSVDataSet", "accounts", **CSV),), {}),
    "a file in the group": (users(HOME, jmx.element("CSVDataSet", "accounts", **CSV)), (), {}),
    "an action that ends a thread": (users(HOME, flow(0)), (), {}),
    "an action that breaks a loop": (looping(HOME, flow(5)), (), {}),
    "a timer of a plugin": (
        users(jmx.sampler("home", jmx.element("kg.apc.VariableThroughputTimer", "shape"))),
        (),
        {"gaps": lambda: {0: 1.0}},
    ),
    "what it sends on conditions": (users(controller("IfController", HOME)), (), {}),
    "its loop is of conditions": (
        users(HOME, controller("WhileController", controller("IfController", HOME))),
        (),
        {},
    ),
    "threads that wait for each other": (
        users(controller("CriticalSectionController", HOME)),
        (),
        {},
    ),
    "samples that a script may ignore": (users(HOME, script("prev.setIgnore()")), (), {}),
}


@pytest.mark.parametrize("how", NOT_SURE)
def test_where_the_plan_may_have_a_reason_it_is_only_told(found, how):
    group, around, came = NOT_SURE[how]
    line = doubt(found(group, around=around, threads=[BOTH], **came))
    assert line.startswith("the thread group 'users' ended ")


def test_a_file_that_came_to_its_end_is_no_excuse_where_an_error_stops_the_test(found):
    feed = jmx.element("CSVDataSet", "accounts", **CSV)
    group = users(HOME, feed, **on_error("stoptest"))
    assert "CSVDataSet 'accounts'" in doubt(found(group, threads=[BOTH]))
    ((by_service, _),) = faults(found(group, threads=[BOTH], failed=["home"]))
    assert by_service
    again = jmx.element("CSVDataSet", "accounts", stopThread="true", recycle="true")
    assert faults(found(users(HOME, again), threads=[BOTH]))


def test_a_pause_of_unknown_length_counts_as_three_of_the_longest_seen(found):
    group = users(HOME, jmx.think(ms="${__Random(1,9000)}"))
    seen = {"gaps": lambda: {0: 10.0}}
    assert found(group, threads=[[sent(29.1), sent(29.1)]], **seen) == EarlyEnds()
    assert faults(found(group, threads=[[sent(28.9), sent(29.1)]], **seen))
    assert found(group, threads=[BOTH]) == EarlyEnds()


def test_groups_that_others_wait_for_begin_their_time_later(found):
    setup = jmx.group(jmx.sampler("in"), kind="SetupThreadGroup", name="up", loops=1, threads=1)
    last = jmx.group(jmx.sampler("out"), kind="PostThreadGroup", name="down", threads=1)
    up = [Thread({"in": 1}, 20.0)]
    down = [Thread({"out": 3}, 89.5)]
    in_time = [[sent(80.0), sent(79.5)], up, down]
    assert found(users(), setup, last, threads=in_time) == EarlyEnds()
    early = [[sent(60.0), sent(60.0)], up, [Thread({"out": 3}, 69.5)]]
    ((_, line),) = faults(found(users(), setup, last, threads=early))
    assert "'users' ended after 40 s of the 60 s" in line


def test_groups_in_a_row_each_have_their_time(found):
    serial = '<boolProp name="TestPlan.serialize_threadgroups">true</boolProp>'
    then = jmx.group(jmx.sampler("pay"), name="then", threads=1, duration=10)
    plan = (users(), then)
    assert found(*plan, threads=[[sent(60), sent(60)], [sent(69.4, pay=3)]], extra=serial) == (
        EarlyEnds()
    )
    stopped = [[sent(60), sent(60)], [sent(65, pay=3)]]
    ((_, line),) = faults(found(*plan, threads=stopped, extra=serial))
    assert "'then' ended after 5 s of the 10 s" in line
    assert found(*plan, threads=stopped) == EarlyEnds()


def test_where_the_start_is_a_guess_the_first_pause_counts_too(found):
    group = users(HOME, jmx.constant_timer(3000), ThreadGroup__delay=2)
    guessed = {"start_is_known": False, "ended_s": 20.0}
    assert found(group, threads=[[sent(54), sent(54)]], **guessed) == EarlyEnds()
    assert faults(found(group, threads=[[sent(52), sent(52)]], **guessed))


@pytest.mark.parametrize("path", PLAN_FILES, ids=id_of)
def test_the_plans_of_this_repository_are_never_accused(path):
    plan = read_plan(path, {})
    came = SampledThreads(Thread(dict.fromkeys(plan.labels, 9), 14.0))
    root = read_tree(path, {})
    assert early_ends(plan, stops_of(root, expander_of(root, {})), came) == EarlyEnds()


def test_each_thread_is_told_with_its_samples_and_the_longest_gap(written):
    sum_up = "Number of samples in transaction : 2, number of failing samples : 0"
    rows = [
        row(0, 10, label="a", thread="one 1-1"),
        row(500, 20, label="a", thread="one 1-1"),
        row(400, 700, label="b", thread="one 1-1"),
        row(2000, 5, label="b", thread="one 1-1"),
        row(0, 9, label="a", thread="one 1-2"),
        row(0, 4000, label="sum", message=f'"{sum_up}"', thread="one 1-2"),
        row(90, 1, label="a", thread="visits 2-9"),
    ]
    path = written(jtl(*rows).encode())
    asked = thread_rows(path, (), lambda name: name == "one 1")
    assert set(asked) == {"one 1", "visits 2"}
    assert asked["visits 2"] == ()
    told = {(it.number, it.label): it.n for it in asked["one 1"]}
    assert told == {(1, "a"): 2, (1, "b"): 2, (2, "a"): 1}
    assert {it.last_end_ms - 1_700_000_000_000 for it in asked["one 1"]} == {520, 2005, 9}
    assert longest_gaps(path, ()) == {"one 1": 0.9}
    with_parents = thread_rows(path, ("sum",), lambda _: True)
    assert {it.label for it in with_parents["one 1"]} == {"a", "b", "sum"}
    columns = "timeStamp,elapsed,label,responseCode,success"
    bare = written(f"{columns}\n1700000000000,5,a,200,true\n".encode())
    assert thread_rows(bare, (), lambda _: True) is None


def their_plan(**changes):
    fields = {"loops": -1, "duration": 60, "threads": 1, "name": "TG"} | changes
    return jmx.plan(jmx.group(jmx.sampler("home"), **fields))


OF_THEIR_OWN = {"measured": 0.0, "ended": own_run.START_MS / 1000 + 15}


def test_a_run_that_ended_early_is_invalid_by_the_service_that_brought_it_about(tmp_path):
    plan = their_plan(**on_error("stoptest"))
    lines = own_run.rows("home", n=2000, failed=2, seconds=14)
    verdict = own_run.verdict_on(tmp_path, plan, lines, "fail>1%", **OF_THEIR_OWN)
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 1)
    (reason,) = verdict.reasons
    assert reason.fault == "service"
    assert "the thread group 'TG' ended after 14 s of the 60 s that the plan says" in reason.text


def test_an_early_end_is_told_once_where_the_length_was_stated_too(tmp_path):
    lines = own_run.rows("home", n=2000, seconds=14)
    verdict = own_run.verdict_on(tmp_path, their_plan(), lines, "fail>1%", measured=60.0)
    (reason,) = verdict.reasons
    assert (verdict.verdict, reason.fault) == ("INVALID", "generator")
    assert "'TG' ended after 14 s" in reason.text


def test_a_run_that_ended_in_time_passes(tmp_path):
    lines = own_run.rows("home", n=2000, seconds=14)
    plan = their_plan(duration=14)
    assert own_run.verdict_on(tmp_path, plan, lines, "fail>1%", **OF_THEIR_OWN).verdict == "PASS"


@pytest.mark.parametrize(
    "ended", [{"ended_by_force": True, "exit_code": 137}, {"exit_code": 1}], ids=str
)
def test_of_a_jmeter_that_was_ended_by_others_no_group_is_accused(tmp_path, ended):
    lines = own_run.rows("home", n=2000, seconds=14)
    own_run.make(tmp_path, their_plan(), lines, "fail>1%", **OF_THEIR_OWN | ended)
    assert own_run.gathered(tmp_path).facts.early_ends == ()


def test_an_end_that_the_plan_may_have_a_reason_for_is_told_beside_the_verdict(tmp_path):
    feed = jmx.element("CSVDataSet", "accounts", **CSV)
    group = jmx.group(jmx.sampler("home"), feed, name="TG", threads=1, duration=60)
    lines = own_run.rows("home", n=2000, seconds=14)
    verdict = own_run.verdict_on(tmp_path, jmx.plan(group), lines, "fail>1%", **OF_THEIR_OWN)
    assert verdict.verdict == "PASS"
    assert any("CSVDataSet 'accounts' may" in it for it in verdict.executions[0].warnings)


def test_threads_that_nobody_can_tell_apart_are_held_against_the_whole_run(tmp_path):
    lines = own_run.rows("home", n=2000, seconds=14, thread="10.0.0.7-TG 1-1")
    made = own_run.verdict_on(tmp_path, their_plan(), lines, "fail>1%", **OF_THEIR_OWN)
    assert made.verdict == "INVALID"
    assert "'TG' ended after 14 s of the 60 s" in made.reasons[0].text


def test_of_arrivals_that_were_stopped_the_schedule_tells_what_is_missing(tmp_path):
    (tmp_path / "plan").mkdir()
    shutil.copyfile(FOLDER / "group-run.jmx", tmp_path / "plan" / "own.jmx")
    header, *lines = (FOLDER / "group-run.jtl").read_text().splitlines(keepends=True)
    own = {"plan": "plan/own.jmx", "measured": 0.0, "warmup": 0.0}
    run_folder.make(tmp_path, ["fail>1%"], **own)
    half = "".join([header, *lines[: len(lines) // 2]])
    run_folder.spoil(tmp_path, half.encode())
    verdict = run_folder.verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "scheduled requests of nap were not sent" in run_folder.reasons(verdict)
