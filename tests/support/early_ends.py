"""Plans of thread groups that may end early, and what their threads have sent."""

from collections import Counter

from support import jmx_text as jmx
from tollgate.judge.ended_early import SampledThreads, Thread, early_ends
from tollgate.plan.read import read_plan

HOME = jmx.sampler("home")
CSV = {"stopThread": "true", "recycle": "false"}


def find(path, *groups, threads=None, whole=None, until_s=None, extra="", around=(), **came):
    """What of a plan of these groups, which is written to `path`, ended early. threads: of each
    group, in the plan's order."""
    path.write_text(jmx.document(jmx.element("TestPlan", "plan", [*around, *groups], extra=extra)))
    by_place = threads and {place: dict(enumerate(each, 1)) for place, each in enumerate(threads)}
    everything = whole or summed([it for each in threads for it in each])
    seen = SampledThreads(everything, by_place, **came)
    return early_ends(read_plan(path, {}), seen, until_s)


def summed(threads):
    samples = sum((Counter(it.samples) for it in threads), Counter())
    return Thread(samples, max(it.last_end_s for it in threads))


def sent(last_end_s, **samples):
    return Thread(samples or {"home": 9}, last_end_s)


def users(*children, threads=2, duration=60, **changes):
    fields = {"name": "users", "threads": threads, "duration": duration}
    return jmx.group(*(children or (HOME,)), **(fields | changes))


def plugin(kind="Concurrency", **changes):
    """60 s of them."""
    fields = {"name": "users", "TargetLevel": 3, "Hold": 1} | changes
    return jmx.plugin_group(HOME, kind=kind, **fields)


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


#: Two threads that ended long before a minute was over.
BOTH = [sent(14.2), sent(14.1)]


def case(group, words="", **came):
    """A thread group, what is said of it, and what `find` gets besides: BOTH for its threads."""
    return group, words, {"threads": [BOTH], **came}
