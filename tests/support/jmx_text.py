"""Writes small JMeter plans for tests, as text, and asks what was read of them."""

import re
from xml.sax.saxutils import escape, quoteattr

from tollgate.plan.arrivals import EVEN_DELAY
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import read_plan
from tollgate.plan.variables import running_expander_of

#: What JMeter needs besides to load an element.
GUI = {
    **{f"{kind}ThreadGroup": f"{kind}ThreadGroupGui" for kind in ("", "Setup", "OpenModel")},
    **{"TestPlan": "TestPlanGui", "TransactionController": "TransactionControllerGui"},
    **{"HTTPSamplerProxy": "HttpTestSampleGui", "ConstantTimer": "ConstantTimerGui"},
    **dict.fromkeys(("JSR223PostProcessor", "JSR223Sampler", "CSVDataSet"), "TestBeanGUI"),
    **{"GenericController": "LogicControllerGui", "InterleaveControl": "InterleaveControlGui"},
    **{f"{kind}Controller": f"{kind}ControllerGui" for kind in ("RandomOrder", "Throughput")},
    **{"CounterConfig": "CounterConfigGui", "RegexExtractor": "RegexExtractorGui"},
    "HeaderManager": "HeaderPanel",
}


def loadable(text):
    """A small plan, or some of its elements, as JMeter itself would load it."""
    named = r'<\1 guiclass="{}" testclass="\1" testname='
    for kind, gui in GUI.items():
        text = re.sub(rf"<({kind}) testname=", named.format(gui), text)
    return text


def main_loop(number):
    """What makes a thread group loop so often in JMeter itself."""
    return (
        '<elementProp name="ThreadGroup.main_controller" elementType="LoopController" '
        'guiclass="LoopControlPanel" testclass="LoopController">'
        '<boolProp name="LoopController.continue_forever">false</boolProp>'
        f'<intProp name="LoopController.loops">{number}</intProp></elementProp>'
    )


def element(kind, name="", children=(), enabled=True, extra="", **props):
    """One element and its hashTree; a property's dots are written as double underscores, and None
    is none."""
    written = "".join(
        f'<stringProp name="{key.replace("__", ".")}">{escape(str(value))}</stringProp>'
        for key, value in props.items()
        if value is not None
    )
    head = f'<{kind} testname={quoteattr(name)} enabled="{str(enabled).lower()}">'
    return f"{head}{written}{extra}</{kind}><hashTree>{''.join(children)}</hashTree>"


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
    props = {"LoopController__loops": loops, "LoopController__continue_forever": "false"}
    props |= {"ThreadGroup__num_threads": threads, "ThreadGroup__duration": duration}
    props["ThreadGroup__scheduler"] = "true" if duration is not None else "false"
    return element(kind, name, children, **props, **more)


FIVE_A_SECOND = "rate(5/s) random_arrivals(10 s)"


def open_group(*children, schedule=FIVE_A_SECOND, seed=3, name="arrivals", **more):
    props = {"OpenModelThreadGroup__schedule": schedule, "OpenModelThreadGroup__random_seed": seed}
    return element("OpenModelThreadGroup", name, children, **props, **more)


def plugin_group(*children, kind="Concurrency", name="visitors", rows=(), **props):
    """A thread group of jmeter-plugins-casutg; rows: of the table of one that has such."""
    package = f"com.blazemeter.jmeter.threads.{kind.lower()}"
    cells = ("".join(f'<stringProp name="0">{it}</stringProp>' for it in row) for row in rows)
    table = "".join(f'<collectionProp name="1">{each}</collectionProp>' for each in cells)
    extra = f'<collectionProp name="table">{table}</collectionProp>' if rows else ""
    return element(f"{package}.{kind}ThreadGroup", name, children, extra=extra, **props)


def simple(*children, name="simple", **more):
    return element("GenericController", name, children, **more)


def fragment(*children, name="fragment", **more):
    return element("TestFragmentController", name, children, **more)


def include(path, **more):
    more = {"IncludeController__includepath": path, **more}
    return element("IncludeController", f"include {path}", **more)


def sampler(name, *children, **more):
    return element("HTTPSamplerProxy", name, children, **more)


def looping(*children, loops=-1, **more):
    """A thread group without a duration that loops in JMeter itself."""
    return group(*children, loops=loops, **{"duration": None, **more}, extra=main_loop(loops))


def get(name, path, port="${__P(port)}", **more):
    """A sampler that sends GET to this machine."""
    at = {"domain": "127.0.0.1", "port": port, "protocol": "http", "path": path, "method": "GET"}
    return sampler(name, **{f"HTTPSampler__{key}": value for key, value in (at | more).items()})


def post(name, path, body, *children, port="${__P(port)}"):
    """A sampler that sends a raw body to this machine."""
    text = f'<stringProp name="Argument.value">{escape(body)}</stringProp>'
    row = f'<elementProp name="" elementType="HTTPArgument">{text}</elementProp>'
    table = f'<collectionProp name="Arguments.arguments">{row}</collectionProp>'
    extra = '<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>'
    extra += f'<elementProp name="HTTPsampler.Arguments" elementType="Arguments">{table}'
    at = {"domain": "127.0.0.1", "port": port, "protocol": "http", "path": path, "method": "POST"}
    props = {f"HTTPSampler__{key}": value for key, value in at.items()}
    return sampler(name, *children, extra=f"{extra}</elementProp>", **props)


def headers(**values):
    """A Header Manager; an underscore stands for a dash."""
    rows = "".join(
        '<elementProp name="" elementType="Header">'
        f'<stringProp name="Header.name">{name.replace("_", "-")}</stringProp>'
        f'<stringProp name="Header.value">{escape(value)}</stringProp></elementProp>'
        for name, value in values.items()
    )
    table = f'<collectionProp name="HeaderManager.headers">{rows}</collectionProp>'
    return element("HeaderManager", "headers", extra=table)


def regex(variable, expression, default=None):
    """A Regular Expression Extractor."""
    props = {"refname": variable, "regex": expression, "template": "$1$", "match_number": 1}
    props = {f"RegexExtractor__{key}": it for key, it in (props | {"default": default}).items()}
    return element("RegexExtractor", variable, **props)


def row(kind, value, name=None):
    """Of a table of headers or arguments; without a name it is a raw body."""
    of = "Header" if kind == "Header" else "Argument"
    called = f'<stringProp name="{of}.name">{name}</stringProp>' if name else ""
    written = f'<stringProp name="{of}.value">{escape(value)}</stringProp>'
    return f'<elementProp name="" elementType="{kind}">{called}{written}</elementProp>'


def posted(value, name=None):
    """A request with one argument."""
    rows = row("HTTPArgument", value, name)
    table = f'<collectionProp name="Arguments.arguments">{rows}</collectionProp>'
    head = '<elementProp name="HTTPsampler.Arguments" elementType="Arguments">'
    sent = get("log in", "/in", port="")
    return sent.replace("</HTTPSamplerProxy>", f"{head}{table}</elementProp></HTTPSamplerProxy>")


def script(name, text):
    """A sampler that runs it."""
    return element("JSR223Sampler", name, scriptLanguage="groovy", cacheKey="true", script=text)


def timer(name="pace", **changes):
    props = {"throughput": 10, "throughputPeriod": 1, "duration": 10, "batchSize": 1}
    return element("PreciseThroughputTimer", name, **props | {"randomSeed": 7} | changes)


def constant_timer(delay, **more):
    return element("ConstantTimer", "pause", ConstantTimer__delay=delay, **more)


def counter(variable="arrival", name="arrivals", **changes):
    props = {"name": variable, "start": 5, "incr": 20, "end": "", "format": "", "per_user": "false"}
    props = {f"CounterConfig__{key}": value for key, value in (props | changes).items()}
    return element("CounterConfig", name, **props)


def counted_timer(variable="arrival"):
    """It waits for what the counter has drawn."""
    return element("ConstantTimer", "due", ConstantTimer__delay=EVEN_DELAY.format(variable))


def one_by_one(*children):
    """An arrival for each turn of a thread group."""
    return simple(counted_timer(), *children)


def think(*children, ms=0, name="think", **more):
    props = {"ActionProcessor__action": 1, "ActionProcessor__duration": ms}
    return element("TestAction", name, children, **props, **more)


def write(folder, *children, **variables):
    """Write a plan into a folder. Returns its path."""
    path = folder / "own.jmx"
    path.write_text(plan(*children, **variables))
    return path


def read(folder, *children, properties=(), **variables):
    """Such a plan, as it will run."""
    return read_plan(write(folder, *children, **variables), dict(properties))


def tree(folder, *children, **variables):
    """(its elements, the folder, what is known of texts while it runs): what rules of plans ask."""
    root = read_tree(write(folder, *children, **variables), {})
    return root, folder, running_expander_of(root, {})


def may_have(plan, label):
    """Whether the reader takes it for possible that the plan leaves rows of this label."""
    return any(it.matches(label) for it in (*plan.sampler_labels, *plan.transaction_labels))
