"""Each controller, timer and thread group of JMeter and of its plugins, each kind of load around
them: what the plan is read to send, what a server counted, and what a verdict says of it."""

import re
from collections import Counter

import pytest

from support import jmx_text as jmx
from support import run_folder
from support.http_server import Handler, serving
from support.jmeter_run import Run
from tollgate.gather import evidence
from tollgate.gather.thread_ends import thread_ends
from tollgate.judge.judgement import judge
from tollgate.plan.read import read_plan
from tollgate.plan.threads import stated_end
from tollgate.record import manifest

THREADS, LOOPS = 2, 3
#: Six arrivals, and time for the answers of the last ones on a busy machine.
SCHEDULE = "rate(2/s) random_arrivals(3 s) pause(60 s)"
#: What JMeter includes, by name, and what modules run, each of one group.
INCLUDED, FRAGMENTS = {}, []


def around(kind, extra="", **props):
    """A controller with these properties, whose names begin with its kind."""
    props = {f"{kind}__{name}": it for name, it in props.items()}
    return lambda *inside: jmx.element(kind, "around", inside, extra=extra, **props)


def when(condition):
    return around("IfController", condition=condition, useExpression="true")


def loops(times):
    return around("LoopController", loops=times, continue_forever="true")


def each_of(name):
    props = {"inputVal": name, "returnVal": "one", "useSeparator": "true"}
    return around("ForeachController", **props)


def percent(number):
    extra = '<boolProp name="ThroughputController.perThread">false</boolProp>'
    extra += "<FloatProperty><name>ThroughputController.percentThroughput</name>"
    extra += f"<value>{number}</value></FloatProperty>"
    return around("ThroughputController", extra, style=1)


def twice_in_all(a, _):
    props = {"style": 0, "maxThroughput": 2, "perThread": "false"}
    return around("ThroughputController", **props)(a)


def named(a):
    return re.search('testname="(.+?)"', a)[1]


def transaction(a, b, parent):
    extra = f'<boolProp name="TransactionController.parent">{parent}</boolProp>'
    return jmx.element("TransactionController", f"{named(a)} and b", [a, b], extra=extra)


def until_counted(a, b):
    """A thread goes on until its own counter is at 2, and does not enter again."""
    counted = jmx.counter("n", start=1, incr=1, per_user="true")
    return around("WhileController", condition='${__jexl3("${n}" != "2",)}')(counted, a) + b


def included(a, _):
    name = f"included-{len(INCLUDED)}.jmx"
    INCLUDED[name] = jmx.document(jmx.fragment(a))
    return jmx.include(name)


def module(a, _):
    where = f"of {named(a)}"
    FRAGMENTS.append(jmx.fragment(jmx.simple(a, name="in its place"), name=where))
    path = ("Test Plan", "plan", where, "in its place")
    entries = "".join(f'<stringProp name="">{it}</stringProp>' for it in path)
    extra = f'<collectionProp name="ModuleController.node_path">{entries}</collectionProp>'
    return jmx.element("ModuleController", "module", extra=extra)


#: What a group has of two requests; how many come of its six turns, and how many where each turn
#: has a thread of its own, if that differs. None: as many as there is time for.
CONTROLLERS = {
    "none": (lambda a, b: a + b, 12),
    "simple": (jmx.simple, 12),
    "transaction": (lambda a, b: transaction(a, b, "false"), 12),
    "parent sample": (lambda a, b: transaction(a, b, "true"), 12),
    "recording": (around("RecordingController"), 12),
    "critical section": (around("CriticalSectionController", lockName="one"), 12),
    "include": (included, 6),
    "module": (module, 6),
    "loop": (lambda a, b: loops(2)(a) + b, 18),
    "loop of none": (loops(0), 0),
    "once only": (lambda a, b: around("OnceOnlyController")(a) + b, 8, 12),
    "if": (when("${__jexl3(1 == 1,)}"), 12),
    "if not": (when('${__jexl3("${word}" == "no",)}'), 0),
    "if not, and more": (lambda a, b: when('${__jexl3("${word}" == "no",)}')(a) + b, 6),
    "while": (until_counted, 10, 18),
    "for each": (each_of("each"), 24),
    "for each of none": (each_of("no"), 0),
    "interleave": (around("InterleaveControl"), 6),
    "random": (around("RandomController"), 6),
    "random order": (around("RandomOrderController"), 12),
    "switch": (around("SwitchController", value="1"), 6),
    "switch to none": (around("SwitchController", value="nobody"), 0),
    "throughput of 70 and 30 %": (lambda a, b: percent("70.0")(a) + percent("30.0")(b), 6),
    "throughput of two": (twice_in_all, 2),
    "run time": (lambda a, _: around("RunTime", seconds=1)(a + jmx.constant_timer(300)), None),
}


def table(name, *cells):
    """Of one row."""
    row = "".join(f'<stringProp name="0">{it}</stringProp>' for it in cells)
    row = f'<collectionProp name="1">{row}</collectionProp>'
    return f'<collectionProp name="{name}">{row}</collectionProp>'


def timer(kind, **props):
    return jmx.element(kind, "timer", **props)


SHAPING = "kg.apc.jmeter.timers.VariableThroughputTimer"
#: Of the first of two requests.
TIMERS = {
    "constant": timer("ConstantTimer", ConstantTimer__delay=50),
    "uniform": timer("UniformRandomTimer", ConstantTimer__delay=20, RandomTimer__range=30),
    "gaussian": timer("GaussianRandomTimer", ConstantTimer__delay=40, RandomTimer__range=10),
    "poisson": timer("PoissonRandomTimer", ConstantTimer__delay=20, RandomTimer__range=20),
    "throughput": timer("ConstantThroughputTimer", calcMode=0, throughput=600),
    "throughput of all": timer("ConstantThroughputTimer", calcMode=4, throughput=60),
    "precise": jmx.timer(throughput=2, duration=3, randomSeed=9),
    "synchronizing": timer("SyncTimer", groupSize=1, timeoutInMs=0),
    "BeanShell": timer("BeanShellTimer", script="return 20;"),
    "BSF": timer("BSFTimer", scriptLanguage="beanshell", script="20"),
    "JSR223": timer("JSR223Timer", scriptLanguage="groovy", script="return 20"),
    "shaping": timer(SHAPING, extra=table("load_profile", 20, 20, 300)),
}


def plain(*inside, **more):
    return jmx.looping(*inside, threads=THREADS, loops=LOOPS, **more)


def open_model(*inside, name):
    return jmx.open_group(*inside, schedule=SCHEDULE, seed=7, name=name)


def timed(*inside, name):
    precise = jmx.timer(throughput=2, duration=3, randomSeed=7)
    both = {"threads": THREADS, "loops": LOOPS, "duration": 300}
    return jmx.group(precise, *inside, name=name, extra=jmx.main_loop(LOOPS), **both)


LOADS = {"plain": plain, "open": open_model, "timed": timed}


def of_a_kind(kind):
    return lambda a, name: plain(a, name=name, kind=kind)


def for_4_s(a, name):
    return jmx.group(a, name=name, threads=THREADS, duration=4, extra=jmx.main_loop(-1))


def dynamic(kind, extra="", **props):
    package = "com.blazemeter.jmeter"
    extra += (
        '<elementProp name="ThreadGroup.main_controller" '
        f'elementType="{package}.control.VirtualUserController"/>'
    )
    kind = f"{package}.threads.{kind}ThreadGroup"
    return lambda a, name: jmx.element(kind, name, [a], extra=extra, Unit="S", **props)


def of_numbers(kind, extra):
    kind, extra = f"kg.apc.jmeter.threads.{kind}ThreadGroup", extra + jmx.main_loop(-1)
    return lambda a, name: jmx.element(kind, name, [a], extra=extra)


STEPS = {
    **{"ThreadGroup.num_threads": 2, "Threads initial delay": 0, "Start users count": 2},
    **{"Start users count burst": 0, "Start users period": 1, "Stop users count": 2},
    **{"Stop users period": 1, "flighttime": 3, "rampUp": 0},
}
STEPPING = "".join(f'<stringProp name="{key}">{it}</stringProp>' for key, it in STEPS.items())
LEVEL = {"TargetLevel": 2, "RampUp": 0, "Hold": 4}
#: Of a request that a thread sends five times a second at most, and how many come.
GROUPS = {
    "set up": (of_a_kind("SetupThreadGroup"), 6),
    "tear down": (of_a_kind("PostThreadGroup"), 6),
    "of a duration": (for_4_s, None),
    "concurrency": (dynamic("concurrency.Concurrency", **LEVEL), None),
    "arrivals": (dynamic("arrivals.Arrivals", **LEVEL), None),
    "free-form": (dynamic("arrivals.FreeFormArrivals", table("Schedule", 2, 2, 4)), None),
    "ultimate": (of_numbers("Ultimate", table("ultimatethreadgroupdata", 2, 0, 1, 3, 1)), None),
    "stepping": (of_numbers("Stepping", STEPPING), None),
}


def asked(label, *children):
    """A request that the server knows again."""
    sent = jmx.get(label, f"/{label.encode().hex()}")
    return sent.replace("<hashTree></hashTree>", f"<hashTree>{''.join(children)}</hashTree>")


def rows():
    """By the name of each row's group: the group, and how many requests come of it."""
    made = {}
    for load, of_load in LOADS.items():
        for what, (of_two, *comes) in CONTROLLERS.items():
            name = f"{load} {what}"
            inside = of_two(asked(f"{name}: a"), asked(f"{name}: b"))
            made[name] = of_load(inside, name=name), comes[-1 if load == "open" else 0]
        for what, element in TIMERS.items():
            name = f"{load} timer {what}"
            inside = asked(f"{name}: a", element) + asked(f"{name}: b")
            made[name] = of_load(inside, name=name), 12
    for what, (of_one, comes) in GROUPS.items():
        made[f"group {what}"] = of_one(asked(f"{what}: a", jmx.constant_timer(200)), what), comes
    return made


class Counting(Handler):
    def respond(self):
        with self.server.lock:
            self.server.counts[bytes.fromhex(self.path[1:]).decode()] += 1
        self.answer(body="ok")


pytestmark = pytest.mark.long
ROWS = rows()
#: Groups that need not send all that they have turns or arrivals for.
BY_CHANCE = {
    *(f"open {it}" for it in ("loop of none", "if not", "switch to none", "for each of none")),
    *(f"open throughput of {it}" for it in ("70 and 30 %", "two")),
    *(f"timed {it}" for it in ("loop", "loop of none", "once only", "if", "if not", "while")),
    *(f"timed {it}" for it in ("if not, and more", "for each", "for each of none", "interleave")),
    *(f"timed {it}" for it in ("random", "random order", "switch", "switch to none")),
    *(f"timed throughput of {it}" for it in ("70 and 30 %", "two")),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(what the server counted by label, the samples, the plan, what judge is told, its verdict) of
    one run of all groups at once."""
    folder = tmp_path_factory.mktemp("every-element")
    (folder / "plan").mkdir()
    text = jmx.plan(
        *FRAGMENTS, *(it for it, _ in ROWS.values()), word="yes", each_1="x", each_2="y"
    )
    text = text.replace('name="v"', 'name="TestPlan.user_defined_variables"')
    for name, it in {"own.jmx": text, **INCLUDED}.items():
        it = re.sub(r"<([\w.]+) (?=testname=)", r'<\1 guiclass="TestBeanGUI" testclass="\1" ', it)
        (folder / "plan" / name).write_text(it)
    settings = {"sample_variables": "TESTSTART.MS", "jmeterengine.force.system.exit": "true"}
    settings["summariser.name"] = ""
    settings["jmeter.save.saveservice.subresults"] = "false"
    with serving(Counting, counts=Counter()) as server:
        at = folder / "plan" / "own.jmx", folder / "plan", folder
        run = Run(*at, port=server.server_port, **settings)
    first, last = (f(int(it["timeStamp"]) for it in run.samples) / 1000 for f in (min, max))
    times = {"warmup": 0.0, "measured": 0.0, "began": first, "ended": last + 60}
    with run.log.open() as log:
        ends = thread_ends(log)
    run_folder.make(folder, ["fail>50%"], plan="plan/own.jmx", thread_ends=ends, **times)
    run_folder.spoil(folder, (folder / "out.jtl").read_bytes())
    told = evidence.gather(folder, manifest.read(folder))
    plan = read_plan(folder / "plan" / "own.jmx", {})
    return server.counts, run.samples, plan, told[0].executions[0], judge(*told)


def of_row(name, label):
    return label.startswith(f"{name.removeprefix('group ')}: ")


@pytest.mark.parametrize("row", ROWS)
def test_as_many_requests_come_as_jmeters_manual_says_and_each_has_its_sample(ran, row):
    counts, samples, *_ = ran
    came = {label: n for label, n in counts.items() if of_row(row, label)}
    expected = ROWS[row][1]
    assert sum(came.values()) == expected or (expected is None and came)
    rows = Counter(it["label"] for it in samples if of_row(row, it["label"]))
    if "parent sample" not in row:
        assert {it: n for it, n in rows.items() if it in came} == came


@pytest.mark.parametrize("row", ROWS)
def test_what_is_read_to_be_sent_came_and_the_verdict_misses_nothing(ran, row):
    _, samples, plan, told, verdict = ran
    rows = Counter(it["label"] for it in samples)
    (group,) = [it for it in plan.groups if it.name == row.removeprefix("group ")]
    is_certain = row not in BY_CHANCE
    for each in told.schedules:
        if of_row(row, each.labels[0]):
            assert (each.missing_service, each.missing_generator, each.extra) == (0, 0, 0)
            assert each.intended == each.sent or not is_certain
    stated = stated_end(group, may_jump=False)
    for label, n in (stated.needs if stated else {}).items():
        assert rows[label.text] == n * THREADS
    (judged,) = verdict.executions
    lines = [it.text for it in judged.reasons] + [*judged.warnings] * is_certain
    of_group = re.compile(f"{re.escape(group.name)}[:']")
    # How late something was, a busy machine says.
    assert [it for it in lines if of_group.search(it) and "late" not in it] == []


def test_the_groups_of_which_each_arrival_is_known_follow_a_schedule_and_no_others(ran):
    *_, told, _ = ran
    follow = {row for row in ROWS for it in told.schedules if of_row(row, it.labels[0])}
    follow -= BY_CHANCE
    dealt = {f"{load} {it}" for load in ("open", "timed") for it in CONTROLLERS} - BY_CHANCE
    hidden = {row for row in dealt if row.endswith(("parent sample", "run time"))}
    assert follow == dealt - hidden | {"plain timer precise"}
