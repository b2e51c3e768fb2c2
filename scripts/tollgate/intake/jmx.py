"""A plan of JMeter as labels: each thread group is one, whose samplers keep their names.

What says who sends when stays behind: a service's arrivals do that. What is left goes into a Test
Fragment, with the elements around the thread group that its samplers need.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from itertools import chain, count
from pathlib import Path

from lxml import etree

from tollgate.base.paths import STATE
from tollgate.base.text import one_line
from tollgate.intake import literal
from tollgate.intake.draft import SENT_TO_SERVICE, Draft, IntakeError
from tollgate.intake.jmx_load import threads_of
from tollgate.intake.jmx_places import NOWHERE, PATH, PROPERTIES, Place, Places, place_of
from tollgate.intake.jmx_secrets import hide
from tollgate.intake.reach import path_of
from tollgate.intake.source import Source
from tollgate.intake.variables import Variables
from tollgate.plan import nodes, sessions
from tollgate.plan.inline import put_in_tree
from tollgate.plan.jmx import is_sampler_kind, parsed, read_tree
from tollgate.plan.model import FLOW_CONTROL, FRAGMENT, HTTP
from tollgate.plan.read import read_plan
from tollgate.plan.variables import expander_of
from tollgate.service import xml
from tollgate.service.model import TAKEN

_SCRIPTS = ("JSR223Sampler", "BeanShellSampler")
_EMBEDDED = "HTTPSampler.image_parser"
#: What a service of taurus.yml does itself, or has no use for.
_DROPPED = {
    "CookieManager": "the service has cookies of its own",
    "CacheManager": "set `store-cache` of the service if its visitors have a cache",
    "DNSCacheManager": "the service does without",
    "ModuleController": "copy what it runs into its place",
    "IncludeController": "the file that it names can't be read",
    "SetupThreadGroup": "prepare the service before the run",
    "PostThreadGroup": "clean up after the run",
    FRAGMENT: "it runs only where a controller names it",
}
_NO_LABEL = ("Collector", "Visualizer", "Summariser", "Listener", "Reporter", "ProxyControl")
#: Has a meaning for the recorder alone.
_RECORDED = "RecordingController"
_PAUSE, _ACTION = "1", "ActionProcessor.action"
#: Elements that read a file, by how their kinds begin, and the property that names it.
_READERS = ("CSVDataSet", "JSR223", "BeanShell")
_FILE = re.compile(r"(.*\.)?filename")
#: A variable or a call, without one in it; brackets around nothing else; and what joins one to the
#: rest of a name.
_INNERMOST = re.compile(r"\$\{[^${}]*\}|\$\{(?!.*\$\{).*", re.DOTALL)
_JOINING = " \t\n-\N{EN DASH}\N{EM DASH}_:;,|=#"
_IN_BRACKETS = re.compile(rf"[(<[][{_JOINING}]*\0[\0{_JOINING}]*[)>\]]")
#: The property that names a file which a request uploads.
_UPLOADED = ".//elementProp[@elementType='HTTPFileArg']/stringProp[@name='File.path']"


def read_jmx(source: Source, name: str, suite: Path, url: str | None = None) -> Draft:
    """What a plan says of a service.

    name: of the service. suite: the folder of taurus.yml. url: where the service answered when the
    plan was made, if not where its first request goes. Raises IntakeError and PlanError."""
    if source.is_remote:
        raise IntakeError(
            f"{source.name} is a plan by URL, without its includes and data: name a saved file"
        )
    return _Reader(Path(path_of(source.uri)), name, suite, url).draft()


class _Reader:
    """Changes the plan in memory until what is left can be part of a service."""

    def __init__(self, path: Path, name: str, suite: Path, url: str | None) -> None:
        self._path, self._name, self._suite, self._url = path, name, suite, url
        self._root = read_tree(path, {})
        self._expander = expander_of(self._root, {})
        self._places = Places(self._expander)
        document = parsed(path)
        put_in_tree(document, path)
        self._plan = document.find("hashTree/TestPlan")
        self._tree = nodes.below_test_plan(document)
        self._variables = Variables(name)
        self._left: Counter[str] = Counter()
        self._guessed: dict[str, None] = {}
        self._owners: dict[str, etree._Element] = {}
        self._threads: dict[etree._Element, tuple[int | None, str]] = {}
        self._cookies: dict[str, dict[str, str]] = {}

    def draft(self) -> Draft:
        for element in [it for it in self._tree.iter() if it.get("enabled") == "false"]:
            _remove(element)
        groups = [it for it, _ in nodes.groups(self._tree)]
        read = read_plan(self._path, {}).groups
        if len(groups) != len(read):
            raise IntakeError(f"{self._path}: a thread group has no hashTree: save the plan anew")
        for group, described, element in zip(groups, read, self._root.thread_groups, strict=True):
            threads, why = threads_of(described, element, self._expander)
            self._threads[group] = threads, why
            if threads == 0:
                self._leave_out(group, why)
        own = self._own_place()
        self._keep_own(own)
        for element in list(self._tree.iter()):
            is_element = isinstance(element.tag, str) and element.tag != "hashTree"
            # Its parent may have gone before it.
            if is_element and self._tree in element.iterancestors():
                self._keep_cookies(element, own[1])
                self._clean(element)
        self._guessed |= dict.fromkeys([*sessions.keep_together([self._tree]), *self._begun_anew()])
        labels = self._labels()
        if not labels:
            left = f" (left out: {next(iter(self._left))})" if self._left else ""
            raise IntakeError(
                f"{self._path}: no thread group of it sends an HTTP request that could be a label: "
                f"save one there by the JMeter GUI{left}"
            )
        protocol, host, port = own
        remarks = [f"left out: {it}{f' ({n} times)' * (n > 1)}" for it, n in self._left.items()]
        remarks += [*self._guessed, "the load is not that of the plan: set rate and weights"]
        remarks += self._variables.to_set
        requests = [{"include": file, **of} for file, (of, _) in labels.items()]
        return Draft(
            requests=tuple(requests),
            url=f"{protocol or 'http'}://{host}{f':{port}' if port else ''}" if host else None,
            secrets=self._variables.secrets,
            remarks=tuple(remarks),
            settings={"cookies": [*self._cookies.values()]} if self._cookies else {},
            files={file: text for file, (_, text) in labels.items()},
        )

    def _own_place(self) -> Place:
        """Where the service answers; nowhere if the plan does not say."""
        places = [it for _, it in self._places.requests(self._tree) if it and it[1]]
        _, host, port = place_of(self._url or "") or NOWHERE
        same_host = [it for it in places if it[1] == host]
        same_place = [it for it in same_host if it[2] == port]
        return next(iter([*same_place, *same_host, *places]), NOWHERE)

    def _keep_own(self, own: Place) -> None:
        """Have requests go where the service answers, and leave out those to other hosts."""
        for request, place in list(self._places.requests(self._tree)):
            protocol, _, rest = self._places.split(request)
            if place is None:
                self._leave_out(request, "its host is known in a run alone: write it into the plan")
            elif place[1] and place[1:] != own[1:]:
                self._leave_out(request, f"which goes to {':'.join(filter(None, place[1:]))}")
            elif protocol:
                path = request.find(f"*[@name='{PATH}']")
                path.text = rest if rest.startswith("/") else f"/{rest}"

    def _clean(self, element: etree._Element) -> None:
        """Leave out, or change, what means something else in a service."""
        kind = nodes.kind(element)
        if kind.endswith(_NO_LABEL):
            _remove(element)  # listeners judge nothing here
            return
        if why := _why_not(element) or self._name_files(element):
            self._leave_out(element, why)
            return
        if kind == _RECORDED:
            self._guessed[f"{_title(element)} runs at each arrival"] = None
            nodes.make_simple(element)
        elif kind in (*HTTP, "ConfigTestElement"):
            self._send_to_service(element)
        elif kind in _SCRIPTS:
            self._guessed[f"{_title(element)} is measured like a request"] = None
        self._hide(element)

    def _send_to_service(self, element: etree._Element) -> None:
        for prop in [it for it in element if it.get("name") in PROPERTIES]:
            element.remove(prop)
        embedded = element.find(f"./boolProp[@name='{_EMBEDDED}']")
        if embedded is not None and embedded.text == "true":
            embedded.text = "false"
            self._guessed[f"{_title(element)} asks for no embedded resources"] = None

    def _name_files(self, element: etree._Element) -> str:
        """Name its files as JMeter finds them, which runs in the folder of the plan that Tollgate
        writes. Why one can't be named so; empty where all are."""
        for file in _files(element):
            known = self._expander.expand(file.text).value
            found = (self._path.parent / (known or "")).resolve()
            if known is None or not found.is_file():
                return f"{file.text} can't be found from {self._path.parent}"
            path = os.path.relpath(found, (self._suite / STATE.name).resolve())
            file.text = literal.written(path)
        return ""

    def _hide(self, element: etree._Element) -> None:
        """Have secrets come from the environment."""
        if hide(element, self._variables):
            self._guessed[
                f"{_title(element)} may send a secret: have the environment hold it, and refer to "
                "it by ${__P(NAME)}"
            ] = None

    def _begun_anew(self) -> Iterator[str]:
        for group in self._root.thread_groups:
            for name in dict.fromkeys(sessions.carried(group, sessions.FOR_REQUESTS)):
                yield (
                    f"{group.name!r} leaves the variable {name} from one turn to the next: each "
                    "arrival begins without"
                )

    def _keep_cookies(self, manager: etree._Element, host: str) -> None:
        """Have the service send a plan's own cookies. host: where it answers."""
        for row in manager.iterfind(".//elementProp[@elementType='Cookie']"):
            hide(manager, self._variables)
            name, domain = row.get("name", ""), self._places.text(row, "Cookie.domain")
            cookie = {"name": name, "value": nodes.text(row, "Cookie.value")}
            cookie |= literal.every(SENT_TO_SERVICE)
            cookie["path"] = nodes.text(row, "Cookie.path") or "/"
            if domain and host and not f".{host}".endswith(f".{domain.lower().lstrip('.')}"):
                self._left[f"the cookie {name!r}: it is for {domain}"] += 1
            elif self._cookies.setdefault(name, cookie) != cookie:
                self._left[f"a second cookie {name!r}: the service sends one to all labels"] += 1

    def _leave_out(self, element: etree._Element, why: str) -> None:
        self._left[f"{_title(element)}: {why}"] += 1
        _remove(element)

    def _labels(self) -> dict[str, tuple[dict[str, object], str]]:
        """(label and weight, text) of each file with a Test Fragment."""
        groups = list(nodes.groups(self._tree))
        own = [pair for pair in nodes.pairs(self._tree) if not nodes.is_group(pair[0])]
        shared = [*self._own_variables(), *(it for pair in own for it in pair)]
        labels: dict[str, tuple[dict[str, object], str]] = {}
        unknown: dict[str, str] = {}
        taken: Counter[str] = Counter()
        for group, below in groups:
            sent = [it for it, _ in nodes.active(below) if nodes.kind(it) in HTTP]
            if not sent:
                self._left[f"{_title(group)}: it sends nothing to the service"] += 1
                continue
            self._begin(below)
            names = {self._named(it, group) for it in sent}
            title = _fixed(group.get("testname", "")) or "requests"
            label = names.pop() if len(names) == 1 else title
            slug = re.sub(r"[^A-Za-z0-9]+", "-", label).strip("-").lower()
            if not re.search("[a-z]", slug) or slug in TAKEN:
                label = slug = f"requests-{slug}".strip("-")
            taken[slug] += 1
            if taken[slug] > 1:
                label, slug = f"{label} {taken[slug]}", f"{slug}-{taken[slug]}"
            threads, why = self._threads[group]
            unknown |= {label: why} if why else {}
            text = xml.fragment(label, [*shared, *below])
            file = f"plans/fragments/{self._name}-{slug}.jmx"
            labels[file] = {"label": label, "weight": threads or 1}, text
        if len({of["weight"] for of, _ in labels.values()}) > 1:
            self._guessed["weights are the numbers of threads"] = None
        for label, why in unknown.items() if len(labels) > 1 else ():
            line = f"the weight of {label!r} is not known, for {why}: write it in place of 1"
            self._guessed[line] = None
        return labels

    def _begin(self, below: etree._Element) -> None:
        """An arrival begins with its first request."""
        for element, _ in list(nodes.active(below)):
            if nodes.kind(element) in HTTP:
                return
            if nodes.kind(element) == FLOW_CONTROL:
                self._leave_out(element, "an arrival begins with its first request")

    def _named(self, sampler: etree._Element, group: etree._Element) -> str:
        """The name of a sampler, which no other one has and which holds no variable."""
        given = sampler.get("testname", "")
        name = _fixed(given) or "request"
        if self._owners.get(name, group) is not group:
            name = f"{name} ({_fixed(group.get('testname', ''))})"
        again = (f"{name} {number}" for number in count(2))
        name = next(it for it in chain([name], again) if it not in self._owners)
        self._owners[name] = group
        if name != given:
            self._guessed[f"{given!r} is called {name!r}"] = None
        sampler.set("testname", name)
        return name

    def _own_variables(self) -> list[etree._Element]:
        """Variables of the Test Plan as an element."""
        table = self._plan.find("elementProp[@elementType='Arguments']/collectionProp")
        if table is None or not len(table):
            return []
        kind = {"guiclass": "ArgumentsPanel", "testclass": "Arguments"}
        names = {**kind, "testname": "variables of the plan", "enabled": "true"}
        variables = etree.Element("Arguments", names)
        variables.append(deepcopy(table))
        self._hide(variables)
        return [variables, etree.Element("hashTree")]


def _files(element: etree._Element) -> list[etree._Element]:
    """The properties that name a file which it reads or sends."""
    found = element.findall(_UPLOADED) if nodes.kind(element) in HTTP else []
    if nodes.kind(element).startswith(_READERS):
        texts = element.iterfind("./stringProp")
        found += [it for it in texts if _FILE.fullmatch(it.get("name", ""))]
    return [it for it in found if it.text]


def _why_not(element: etree._Element) -> str:
    """Why an element can't be part of a service; empty for one that can."""
    kind = nodes.kind(element)
    if kind.endswith("Timer") and not _is_pause(_parent(element)):
        return "arrivals say when each request is sent"
    if kind == FLOW_CONTROL and not _is_pause(element):
        return "it would end a part of the load"
    if is_sampler_kind(kind) and kind not in (*HTTP, *_SCRIPTS, FLOW_CONTROL):
        return "which is no HTTP request"
    return _DROPPED.get(kind) or sessions.why_of_a_thread(element)


def _fixed(name: str) -> str:
    """Without variables: a label is known before the run. In one line, as rows of samples are."""
    while name != (name := _INNERMOST.sub("\0", name, count=1)):
        pass
    first, *others = _IN_BRACKETS.sub("\0", name).split("\0")
    for part in others:
        left, right = first.rstrip(_JOINING), part.lstrip(_JOINING)
        joined = re.search(r"\s", first[len(left) :] + part[: len(part) - len(right)])
        is_reference = (left[-1:], right[:1]) == ("$", "{")
        apart = " " if joined or is_reference or (left[-1:] + right[:1]).isalnum() else ""
        first = f"{left}{apart if left and right else ''}{right}"
    return first.strip() if first.isprintable() else one_line(first)


def _title(element: etree._Element) -> str:
    return f"{nodes.kind(element)} {element.get('testname', '')!r}"


def _parent(element: etree._Element) -> etree._Element | None:
    """The element in whose hashTree this one stands."""
    tree = element.getparent()
    return tree.getprevious() if tree is not None else None


def _is_pause(element: etree._Element | None) -> bool:
    if element is None or nodes.kind(element) != FLOW_CONTROL:
        return False
    return nodes.text(element, _ACTION) == _PAUSE


def _remove(element: etree._Element) -> None:
    """With its hashTree."""
    parent, below = element.getparent(), element.getnext()
    if parent is None:
        return
    if below is not None and below.tag == "hashTree":
        parent.remove(below)
    parent.remove(element)
