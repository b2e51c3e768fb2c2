"""What a reader of a plan would point out: lint(plan, properties) -> lines. It changes no verdict.

One line for each kind of remark, with the names of the elements that it is about. Only what JMeter
would run is looked at, with Include and Module Controllers in their places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from tollgate.expressions import Expander
from tollgate.jmx import Element, read_tree
from tollgate.plan import expander_of, is_sampler, read_plan
from tollgate.plan_bounds import endless_groups
from tollgate.plan_model import FLOW_CONTROL

#: Names listed of each kind of remark.
SHOWN = 5
TIMEOUTS = {"connect": "HTTPSampler.connect_timeout", "response": "HTTPSampler.response_timeout"}
HOST = "HTTPSampler.domain"
# They judge their own result, or ask nobody.
_UNASKED = ("DebugSampler", "JSR223Sampler", "BeanShellSampler", "BSFSampler", "SystemSampler")
# Listeners by their class; one that sends figures elsewhere has a remark of its own.
_LISTENERS = ("ResultCollector", "ResultSaver", "Summariser", "BeanShellListener")
_UNCOMPILED = ("beanshell", "bsh", "javascript", "ecmascript", "js")

_VARIABLE = re.compile(r"\$\{(?!__)([^${}]+)\}")

_Scoped = tuple[Element, tuple[Element, ...]]


def lint(plan: Path, properties: Mapping[str, str]) -> list[str]:
    """What there is to say about a plan as it will run. Raises PlanError."""
    expander = Expander(properties, {})

    def known(text: str) -> str | None:
        return expander.expand(text).value

    root = read_tree(plan, known)
    endless = endless_groups(read_plan(plan, properties), root, expander_of(root, properties))
    found = [
        *remarks(root),
        *_missing_feeds(root, lambda name: (plan.parent / name).is_file(), known),
        *(f"{each} without an end" for each in endless),
    ]
    return list(dict.fromkeys(found))


def remarks(root: Element) -> Iterator[str]:
    """What the tree of a plan alone tells. Pure."""
    groups = [each for each in root.active if each.kind.endswith("ThreadGroup")]
    around = root.active
    scoped = [it for group in groups for it in _samplers(group, around)]
    yield from _unchecked(scoped)
    yield from _without_timeout(scoped)
    everything = list(root.walk())
    yield from _listeners(everything)
    yield from _hosts(everything)
    yield from _scripts(everything)


def _samplers(element: Element, scope: tuple[Element, ...]) -> Iterator[_Scoped]:
    """The samplers below an element, each with what JMeter applies to it."""
    inner = (*scope, *element.active)
    for child in element.active:
        if is_sampler(child):
            yield child, (*inner, *child.active)
        else:
            yield from _samplers(child, inner)


def _unchecked(scoped: Iterable[_Scoped]) -> Iterator[str]:
    names = [
        sampler.name
        for sampler, scope in scoped
        if sampler.kind not in (FLOW_CONTROL, *_UNASKED)
        and not any("Assertion" in each.kind for each in scope)
    ]
    if names:
        yield (
            f"no assertion looks at the answers of {_list(names)}: an error page with status 200 "
            "counts as right; add a Response Assertion"
        )


def _without_timeout(scoped: Iterable[_Scoped]) -> Iterator[str]:
    http = [(it, scope) for it, scope in scoped if it.kind.startswith("HTTPSampler")]
    for what, name in TIMEOUTS.items():
        names = [
            sampler.name
            for sampler, scope in http
            if not any(
                each.props.get(name, "").strip()
                for each in (sampler, *(it for it in scope if it.kind == "ConfigTestElement"))
            )
        ]
        if names:
            yield (
                f"no {what} timeout for {_list(names)}: a service that hangs holds its threads "
                "for ever; set one in HTTP Request Defaults"
            )


def _listeners(elements: Iterable[Element]) -> Iterator[str]:
    for element in elements:
        if not element.kind.endswith((*_LISTENERS, "Listener", "Visualizer")):
            continue
        if element.kind == "BackendListener":
            yield _backend(element)
            continue
        file = element.props.get("filename", "").strip()
        step = "a run has the samples anyway; disable it"
        if element.kind == "ResultCollector" and not file:
            step = "this run leaves it out, another would not; disable it"
        where = f" and writes {file}" if file else ""
        yield f"the listener {element.name!r} is on{where}, which takes memory and time: {step}"


def _backend(element: Element) -> str:
    """Where it sends what it is told: its class names that URL or host as it likes."""
    places = (value for name, value in element.pairs if re.search("url|host", name, re.IGNORECASE))
    place = next((value.strip() for value in places if value.strip()), "somewhere")
    return (
        f"the Backend Listener {element.name!r} is on and sends figures to {place} while the run "
        f"lasts ({element.props.get('classname', 'of no class')}): disable it unless whoever runs "
        "that expects them"
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
            f"the host {host} is hard-coded in {_list(names)}: write ${{__P(host,{host})}} in HTTP "
            "Request Defaults alone, and another place can be asked"
        )


def _scripts(elements: Iterable[Element]) -> Iterator[str]:
    slow, anew = [], []
    for element in elements:
        language = element.props.get("scriptLanguage", "groovy").strip().lower()
        if element.kind.startswith(("BeanShell", "BSF")) or language in _UNCOMPILED:
            slow.append(element.name)
        elif element.kind.startswith("JSR223") and _is_compiled_anew(element):
            anew.append(element.name)
    if slow:
        yield (
            f"the script of {_list(slow)} is interpreted each time, at the cost of JMeter's own "
            "cores: write it in Groovy, as a JSR223 element"
        )
    if anew:
        yield (
            f"the script of {_list(anew)} is compiled anew each time: tick 'Cache compiled script "
            "if available', and pass variables by vars.get instead of ${...}"
        )


def _is_compiled_anew(element: Element) -> bool:
    """A script in a file is always kept; one in the plan only with a key."""
    in_the_plan = element.props.get("script", "").strip() and not element.props.get("filename")
    return bool(in_the_plan) and element.props.get("cacheKey", "").strip() in ("", "false")


def _missing_feeds(
    root: Element, exists: Callable[[str], bool], known: Callable[[str], str | None]
) -> Iterator[str]:
    for element in root.walk():
        file = known(element.props.get("filename", "")) if element.kind == "CSVDataSet" else None
        if file and not exists(file):
            yield (
                f"the CSV Data Set {element.name!r} names {file}, which is not there: its path "
                "counts from the plan's folder"
            )


def _list(names: Iterable[str]) -> str:
    """Names in quotes, each once; the first of many."""
    every = [repr(name) for name in dict.fromkeys(names)]
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more
