"""Elements of JMeter as text, as its GUI saves them, and the plan around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from tollgate.plan import nodes
from tollgate.plan.jmx import is_sampler_kind
from tollgate.plan.model import FLOW_CONTROL

_PLAN = """<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname={name}>
<stringProp name="TestPlan.comments">{comment}</stringProp>
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"
 guiclass="ArgumentsPanel" testclass="Arguments" testname="User Defined Variables">
<collectionProp name="Arguments.arguments"/></elementProp>
<boolProp name="TestPlan.functional_mode">false</boolProp>
<boolProp name="TestPlan.serialize_threadgroups">false</boolProp></TestPlan>
<hashTree/></hashTree></jmeterTestPlan>"""
#: Properties that say where a service answers.
PLACES = ("host", "port", "protocol")
_LOOP = """<elementProp name="ThreadGroup.main_controller" elementType="LoopController"
 guiclass="LoopControlPanel" testclass="LoopController" testname="Loop Controller">
<intProp name="LoopController.loops">-1</intProp>
<boolProp name="LoopController.continue_forever">false</boolProp></elementProp>"""
_ARGUMENTS = """<elementProp name="HTTPsampler.Arguments" elementType="Arguments"
 guiclass="HTTPArgumentsPanel" testclass="Arguments" testname="User Defined Variables">
<collectionProp name="Arguments.arguments"/></elementProp>"""


def plan(name: str, comment: str, parts: Iterable[etree._Element]) -> etree._ElementTree:
    """A whole plan. parts: what stands below the Test Plan, each element before its hashTree."""
    text = _PLAN.format(name=quoteattr(name), comment=escape(comment))
    root = etree.fromstring(text, etree.XMLParser(remove_blank_text=True))
    nodes.below_test_plan(etree.ElementTree(root)).extend(parts)
    etree.indent(root)
    return etree.ElementTree(root)


def fragment(label: str, elements: Iterable[etree._Element]) -> str:
    """The text of a file with a Test Fragment."""
    inside = element("TestFragmentController", "TestFragmentControllerGui", label, below=elements)
    comment = "A Test Fragment: it runs where a service of taurus.yml includes it, not alone."
    document = plan(label, comment, inside)
    return etree.tostring(document, encoding="UTF-8", xml_declaration=True).decode()


def element(
    tag: str, gui: str, name: str, inside: str = "", below: Iterable[etree._Element] = ()
) -> Iterator[etree._Element]:
    """An element that is switched on, and its hashTree. inside: its properties."""
    head = f"<{tag} guiclass={quoteattr(gui)} testclass={quoteattr(tag)} testname={quoteattr(name)}"
    parser = etree.XMLParser(remove_blank_text=True)
    yield etree.fromstring(f'{head} enabled="true">{inside}</{tag}>', parser)
    tree = etree.Element("hashTree")
    tree.extend(below)
    yield tree


def props(kind: str = "stringProp", **values: object) -> str:
    """Properties by their names, in which a double underscore stands for a point."""
    pairs = ((quoteattr(name.replace("__", ".")), escape(str(it))) for name, it in values.items())
    return "".join(f"<{kind} name={name}>{value}</{kind}>" for name, value in pairs)


def target(timeout_ms: int, encoding: str) -> Iterator[etree._Element]:
    """HTTP Request Defaults: where the service answers, which properties say."""
    places = props(
        HTTPSampler__connect_timeout="${__P(connect_timeout,2000)}",
        HTTPSampler__response_timeout=f"${{__P(response_timeout,{timeout_ms})}}",
        HTTPSampler__domain="${__P(host,127.0.0.1)}",
        HTTPSampler__port="${__P(port,3001)}",
        HTTPSampler__protocol="${__P(protocol,http)}",
        HTTPSampler__contentEncoding=encoding,
        HTTPSampler__implementation="HttpClient4",
    )
    return element("ConfigTestElement", "HttpDefaultsGui", "target", places + _ARGUMENTS)


def spread(document: etree._ElementTree, processes: int) -> None:
    """Have each thread ask one of several alike processes, which the properties host_0, port_0 and
    protocol_0 onwards say."""
    number = f"${{__jexl3(ctx.threadNum % {processes})}}"
    for each in document.iter("stringProp"):
        for name in PLACES:
            if each.text and f"${{__P({name}," in each.text:
                each.text = each.text.replace(f"${{__P({name},", f"${{__P({name}_{number},")


def thread_group(
    name: str, threads: str, ramp: str, duration: str, below: Iterable[etree._Element]
) -> Iterator[etree._Element]:
    """Threads that loop until the duration is over."""
    numbers = props(ThreadGroup__num_threads=threads, ThreadGroup__ramp_time=ramp)
    numbers += props(ThreadGroup__duration=duration, ThreadGroup__on_sample_error="continue")
    flags = {"ThreadGroup__same_user_on_next_iteration": "true", "ThreadGroup__scheduler": "true"}
    inside = numbers + props("boolProp", **flags) + _LOOP
    return element("ThreadGroup", "ThreadGroupGui", name, inside, below)


def controller(name: str, below: Iterable[etree._Element]) -> Iterator[etree._Element]:
    """A Simple Controller."""
    return element("GenericController", "LogicControllerGui", name, below=below)


def switch(name: str, value: str, below: Iterable[etree._Element]) -> Iterator[etree._Element]:
    """A Switch Controller, which runs what is named like its value."""
    inside = props(SwitchController__value=value)
    return element("SwitchController", "SwitchControllerGui", name, inside, below)


def on_first_sampler(
    elements: Iterable[etree._Element], added: Iterable[etree._Element]
) -> list[etree._Element]:
    """The elements, the first of whose samplers has something added below it: a timer holds an
    arrival back once, and not each of its requests."""
    tree = etree.Element("hashTree")
    tree.extend(elements)
    found = ((nodes.kind(it), below) for it, below in nodes.active(tree))
    sends = (below for kind, below in found if is_sampler_kind(kind) and kind != FLOW_CONTROL)
    next(sends)[:0] = list(added)
    return list(tree)
