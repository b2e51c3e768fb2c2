"""What a reader of a plan would point out: lint(plan, properties) -> lines. It changes no verdict.

One line for each kind of remark, with the names of the elements that it is about. Only what JMeter
would run is looked at, with Include and Module Controllers in their places. Source of what JMeter
compiles and keeps: its manual, Component Reference, "JSR223 Sampler".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from tollgate.base.text import did_you_mean, some_of
from tollgate.install.tools import jmeter_home
from tollgate.plan.bounds import unbounded_groups
from tollgate.plan.copy import with_includes
from tollgate.plan.data_files import absent
from tollgate.plan.inline import shares_fragments
from tollgate.plan.jmx import Element, read_tree
from tollgate.plan.model import CACHE_MANAGER, FLOW_CONTROL, OPEN_MODEL
from tollgate.plan.read import read_plan
from tollgate.plan.sessions import shares
from tollgate.plan.traceparent import PROPERTY
from tollgate.plan.variables import expander_of, running_expander_of, set_anew

TIMEOUTS = {"connect": "HTTPSampler.connect_timeout", "response": "HTTPSampler.response_timeout"}
HOST = "HTTPSampler.domain"
# Samplers whose answers have a status, by how their names begin.
_WITH_STATUS = ("HTTP", "Ajp")
# They judge their own result, or send no request.
_UNASKED = ("DebugSampler", "JSR223Sampler", "BeanShellSampler", "BSFSampler", "SystemSampler")
# Listeners by their class; one that sends figures elsewhere has a remark of its own.
_LISTENERS = ("ResultCollector", "ResultSaver", "Summariser")

_VARIABLE = re.compile(r"\$\{(?!__)([^${}]+)\}")

#: What a plan reads a property by; what a script is called that stands in a file of its own; how
#: JMeter's own properties are listed that have no dot in their names.
_READ = re.compile(r"__(?:P|property)\(\s*([\w-]+)")
_WITHOUT_DEFAULT = re.compile(r"\$\{__P\(\s*([\w-]+)\s*\)\}")
_SCRIPT_FILE = re.compile(r'name="(?:filename|\w+\.filename)">[^<]+\.(?:groovy|bsh|js|java)<')
_JMETERS = re.compile(r"^#?([A-Za-z_]+)=", re.MULTILINE)
#: What a run gives each plan, whether it reads that or not.
_OF_ANY_RUN = ("warmup", "measured", PROPERTY)

_Scoped = tuple[Element, tuple[Element, ...]]
#: Names listed of each kind of remark.
SHOWN = 5
_UNCOMPILED = ("beanshell", "bsh", "javascript", "ecmascript", "js")
_INTERPRETED = "is interpreted each time, on JMeter's own cores: write a JSR223 element in Groovy"
_COMPILED_ANEW = (
    "is compiled anew each time: tick 'Cache compiled script if available', and pass variables by "
    "vars.get instead of ${...}"
)
_KEPT = (
    "is kept as a thread first compiled it, with the value that a ${...} in it had then: read what "
    "changes by vars.get instead"
)
_FUNCTION = re.compile(r"\$\{(__\w+)")
#: Functions that a thread never gets another value of.
_CONSTANT = ("__P", "__property", "__env", "__threadNum", "__threadGroupName", "__TestPlanName")


def lint(plan: Path, properties: Mapping[str, str]) -> list[str]:
    """What there is to say about a plan as it will run. Raises PlanError."""
    root = read_tree(plan, properties)
    running = running_expander_of(root, properties)
    at_start = expander_of(root, properties)
    read = read_plan(plan, properties)
    off = [it.name for it in read.groups if 0 in (it.threads, it.loops) and it.samplers]
    lines = [
        *remarks(root),
        *_without_a_value(root, properties),
        *([f"without threads or loops, so that it sends nothing: {listed(off)}"] if off else ()),
        *(() if shares_fragments(plan) else _parsed_anew(root)),
        *(
            f"the {each.title} names {name}, which is not there: its path counts from the plan's "
            "folder"
            for each, name in absent(root, plan.parent, running)
        ),
        *(
            f"{line} without an end"
            for line, ends in unbounded_groups(read, root, at_start)
            if not ends
        ),
    ]
    return list(dict.fromkeys(lines))


def _without_a_value(root: Element, properties: Mapping[str, str]) -> Iterator[str]:
    """Of properties that have none and no default: JMeter takes 1 for each."""
    if shares(root) or any(it.is_script_in_a_file for it in root.walk()):
        return  # the run may set them
    texts = (text for it in root.walk() if not it.is_script for _, _, text in it.references)
    names = [name for text in texts for name in _WITHOUT_DEFAULT.findall(text)]
    own = jmeters_own()
    if missing := [it for it in names if it not in properties and it not in own]:
        yield (
            f"no value for {listed(f'${{__P({it})}}' for it in missing)}, for which JMeter takes "
            "1: pass the property, or write a default behind a comma"
        )


def remarks(root: Element) -> Iterator[str]:
    """What the tree of a plan alone shows. Pure."""
    scoped = [it for group in root.thread_groups for it in _samplers(group, root.active)]
    yield from _unchecked(scoped)
    yield from _without_timeout(scoped)
    everything = list(root.walk())
    yield from _listeners(everything)
    yield from _hosts(everything)
    for each in everything:
        if each.kind == CACHE_MANAGER and each.props.get("useExpires", "false") != "false":
            yield (
                f"the HTTP Cache Manager {each.name!r} answers requests that leave no sample, so "
                "the planned requests can't be counted: to see them, set the property "
                "cache_manager.cached_resource_mode to RETURN_200_CACHE"
            )
    yield from scripts(root)


def _samplers(element: Element, scope: tuple[Element, ...]) -> Iterator[_Scoped]:
    """The samplers below an element, each with what JMeter applies to it."""
    inner = (*scope, *element.active)
    for child in element.active:
        if child.is_sampler:
            yield child, (*inner, *child.active)
        else:
            yield from _samplers(child, inner)


def _unchecked(scoped: Iterable[_Scoped]) -> Iterator[str]:
    asked = ((it, scope) for it, scope in scoped if it.kind not in (FLOW_CONTROL, *_UNASKED))
    unchecked = [it for it, scope in asked if not any("Assertion" in of.kind for of in scope)]
    for has_status, what in (
        (True, "an error page with status 200 counts as right"),
        (False, "whatever they hold counts as right where the sampler itself meets no error"),
    ):
        names = [it.name for it in unchecked if it.kind.startswith(_WITH_STATUS) == has_status]
        if names:
            yield (
                f"no assertion looks at the answers of {listed(names)}: {what}; "
                "add a Response Assertion"
            )


def _without_timeout(scoped: Iterable[_Scoped]) -> Iterator[str]:
    http = [(it, scope) for it, scope in scoped if it.kind.startswith("HTTPSampler")]
    for what, name in TIMEOUTS.items():
        names = []
        for sampler, scope in http:
            defaults = (it for it in scope if it.kind == "ConfigTestElement")
            if not any(it.props.get(name, "").strip() for it in (sampler, *defaults)):
                names.append(sampler.name)
        if names:
            yield (
                f"no {what} timeout for {listed(names)}: a service that hangs holds its threads "
                "for ever; set one in HTTP Request Defaults"
            )


def _listeners(elements: Iterable[Element]) -> Iterator[str]:
    for element in elements:
        # A script that listens may be of the plan's own logic.
        if element.is_script or not element.kind.endswith((*_LISTENERS, "Listener", "Visualizer")):
            continue
        if element.kind == "BackendListener":
            yield _backend(element)
            continue
        file = element.props.get("filename", "").strip()
        step = "a run has the samples anyway; disable it"
        if element.kind == "ResultCollector" and not file and not element.included:
            step = "this run leaves it out, another would not; disable it"
        where = f" and writes {file}" if file else ""
        yield f"the listener {element.name!r} is on{where}, which takes memory and time: {step}"


def _backend(element: Element) -> str:
    """Where it sends its figures: its class names that URL or host as it likes."""
    places = (value for name, value in element.pairs if re.search("url|host", name, re.IGNORECASE))
    place = next((value.strip() for value in places if value.strip()), "somewhere")
    return (
        f"the Backend Listener {element.name!r} is on and sends figures to {place} while the run "
        f"lasts ({element.props.get('classname', 'of no class')}): disable it unless the operator "
        "of that host expects them"
    )


def _hosts(elements: list[Element]) -> Iterator[str]:
    tables = (each for each in elements if each.kind in ("TestPlan", "Arguments"))
    variables = {name: value.strip() for each in tables for name, value in each.pairs}
    hosts: dict[str, list[str]] = {}
    for element in elements:
        host, where = element.props.get(HOST, "").strip(), element.name
        for _ in variables:  # as many as could stand for each other
            variable = _VARIABLE.fullmatch(host)
            if variable and variable[1] in variables:
                host, where = variables[variable[1]], host
        if host and "${" not in host:
            hosts.setdefault(host, []).append(where)
    for host, names in hosts.items():
        yield (
            f"the host {host} is hard-coded in {listed(names)}: write ${{__P(host,{host})}} in "
            "HTTP Request Defaults alone, and another place can be asked"
        )


def scripts(root: Element) -> Iterator[str]:
    """What there is to say about the scripts of a plan's tree. Pure."""
    changing = set_anew(root)
    names: dict[str, list[str]] = {}
    for element in root.walk():
        names.setdefault(_remark_on_script(element, changing), []).append(element.name)
    for remark in (_INTERPRETED, _COMPILED_ANEW, _KEPT):
        if remark in names:
            yield f"the script of {listed(names[remark])} {remark}"


def _remark_on_script(element: Element, changing: Collection[str]) -> str:
    """Empty where there is nothing to say."""
    language = element.props.get("scriptLanguage", "groovy").strip().lower()
    text = element.props.get("script", "")
    if element.kind.startswith(("BeanShell", "BSF")) or language in _UNCOMPILED:
        return _INTERPRETED
    if not element.kind.startswith("JSR223") or element.props.get("filename"):
        return ""  # of a script in a file the compiled one is always kept
    if text.strip() and element.props.get("cacheKey") == "false":
        return _COMPILED_ANEW
    return _KEPT if _changes(text, changing) else ""


def _parsed_anew(root: Element) -> Iterator[str]:
    """Includes that an Open Model Thread Group, with a thread for each arrival, pays for each time;
    those in an included file with it. Source: as plan/inline.py."""
    for group in root.thread_groups:
        if group.kind != OPEN_MODEL:
            continue
        for each in group.walk():
            if each.kind == "IncludeController" and not each.included:
                file = each.props.get("IncludeController.includepath", "").strip()
                yield (
                    f"the Include Controller {each.name!r} stands below the Open Model Thread "
                    f"Group {group.name!r}: JMeter parses {file} anew for each arrival, a "
                    "millisecond of CPU or more; move what it includes into the group"
                )


def _changes(script: str, changing: Collection[str]) -> bool:
    """Whether JMeter puts something into the script's text that is not the same each time.

    What no element of the plan sets may be a variable of the script's own language.
    """
    calls = any(name not in _CONSTANT for name in _FUNCTION.findall(script))
    return calls or any(name in changing for name in _VARIABLE.findall(script))


def unread(plan: Path, names: Iterable[str]) -> Iterator[str]:
    """A line for each of these properties that neither the plan nor what it includes reads: a
    misspelt one would silently change nothing. JMeter's own are left out.
    A plan that can't be read is for others to refuse."""
    if not plan.is_file():
        return
    text = "\n".join(it.read_text("utf-8", "replace") for it in with_includes(plan))
    if _SCRIPT_FILE.search(text):  # which may read any
        return
    jmeters = jmeters_own()
    read = list(dict.fromkeys(_READ.findall(text)))
    for name in names:
        elsewhere = "." in name or name in (*_OF_ANY_RUN, *jmeters)
        if not elsewhere and not re.search(rf"\b{re.escape(name)}\b", text):
            yield (
                f"nothing in {plan.name} reads the property {name!r}, which changes nothing: "
                f"{did_you_mean(name, read) if read else 'it reads none'}"
            )


def jmeters_own() -> list[str]:
    """The properties of JMeter's own without a dot in their names."""
    own = jmeter_home() / "bin" / "jmeter.properties"
    return _JMETERS.findall(own.read_text("utf-8", "replace")) if own.is_file() else []


def listed(names: Iterable[str]) -> str:
    """Names in quotes, each once; the first of many."""
    return some_of([repr(name) for name in dict.fromkeys(names)], SHOWN)
