"""Writes small JMeter plans for tests, as text, and asks what was read of them."""

from xml.sax.saxutils import escape, quoteattr

from tollgate.plan.arrivals import EVEN_DELAY


def element(kind, name="", children=(), enabled=True, extra="", **props):
    """One element and its hashTree; a property's dots are written as double underscores."""
    written = "".join(
        f'<stringProp name="{key.replace("__", ".")}">{escape(str(value))}</stringProp>'
        for key, value in props.items()
    )
    state = str(enabled).lower()
    return (
        f'<{kind} testname={quoteattr(name)} enabled="{state}">{written}{extra}</{kind}>'
        f"<hashTree>{''.join(children)}</hashTree>"
    )


def arguments(**values):
    rows = "".join(
        f'<elementProp name="{name}" elementType="Argument">'
        f'<stringProp name="Argument.name">{name}</stringProp>'
        f'<stringProp name="Argument.value">{escape(value)}</stringProp></elementProp>'
        for name, value in values.items()
    )
    return f'<collectionProp name="Arguments.arguments">{rows}</collectionProp>'


def plan(*children, **variables):
    table = f'<elementProp name="v" elementType="Arguments">{arguments(**variables)}</elementProp>'
    return document(element("TestPlan", "plan", children, extra=table))


def document(*tops):
    return f'<jmeterTestPlan version="1.2"><hashTree>{"".join(tops)}</hashTree></jmeterTestPlan>'


def group(*children, kind="ThreadGroup", name="visitors", threads=4, loops=-1, duration=10, **more):
    props = {
        "ThreadGroup__num_threads": threads,
        "LoopController__loops": loops,
        "LoopController__continue_forever": "false",
        "ThreadGroup__scheduler": "true" if duration is not None else "false",
        "ThreadGroup__duration": duration,
    }
    return element(
        kind, name, children, **{k: v for k, v in props.items() if v is not None}, **more
    )


def open_group(
    *children, schedule="rate(5/s) random_arrivals(10 s)", seed=3, name="arrivals", **more
):
    props = {"OpenModelThreadGroup__schedule": schedule, "OpenModelThreadGroup__random_seed": seed}
    return element("OpenModelThreadGroup", name, children, **props, **more)


def plugin_group(*children, kind="Concurrency", name="visitors", rows=(), **props):
    """A thread group of jmeter-plugins-casutg; rows: of the table of one that has such."""
    package = f"com.blazemeter.jmeter.threads.{kind.lower()}"
    cells = ("".join(f'<stringProp name="0">{it}</stringProp>' for it in row) for row in rows)
    table = "".join(f'<collectionProp name="1">{each}</collectionProp>' for each in cells)
    extra = f'<collectionProp name="table">{table}</collectionProp>' if rows else ""
    return element(f"{package}.{kind}ThreadGroup", name, children, extra=extra, **props)


def sampler(name, *children, **more):
    return element("HTTPSamplerProxy", name, children, **more)


def timer(name="pace", **changes):
    props = {
        "throughput": 10,
        "throughputPeriod": 1,
        "duration": 10,
        "batchSize": 1,
        "randomSeed": 7,
    }
    return element("PreciseThroughputTimer", name, **(props | changes))


def constant_timer(delay, **more):
    return element("ConstantTimer", "pause", ConstantTimer__delay=delay, **more)


def counter(variable="arrival", name="arrivals", **changes):
    props = {"name": variable, "start": 5, "incr": 20, "end": "", "format": "", "per_user": "false"}
    return element(
        "CounterConfig", name, **{f"CounterConfig__{k}": v for k, v in (props | changes).items()}
    )


def counted_timer(variable="arrival"):
    """It waits for what the counter has drawn."""
    return element("ConstantTimer", "due", ConstantTimer__delay=EVEN_DELAY.format(variable))


def one_by_one(*children):
    """An arrival for each turn of a thread group."""
    return element("GenericController", "one", [counted_timer(), *children])


def think(*children, ms=0, name="think", **more):
    props = {"ActionProcessor__action": 1, "ActionProcessor__duration": ms}
    return element("TestAction", name, children, **props, **more)


def may_have(plan, label):
    """Whether the reader takes it for possible that the plan leaves rows of this label."""
    every = (*plan.sampler_labels, *plan.transaction_labels)
    return any(known.matches(label) for known in every)
