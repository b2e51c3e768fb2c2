"""Which ${name} of a plan nothing sets, so that JMeter would send it as it stands.

What a thread has not set, it does not see: of what elements set, only user defined variables reach
the threads of other groups. Where something in the plan may set any variable, such as a script
that names none, nothing is said of its group. Source: JMeter's manual, "Functions and Variables"
and Component Reference of each element here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tollgate.base.text import closest, some_of
from tollgate.plan.data_files import feed_of, may_be_written
from tollgate.plan.expressions import ExpandedText, Expander, unknown
from tollgate.plan.jmx import Element
from tollgate.plan.model import FRAGMENT
from tollgate.plan.variables import set_by

#: Elements of JMeter's own, and of well-known plugins, that set no variable but those which set_by
#: or a function in them names.
_PLAIN = re.compile(
    r"\w*(ThreadGroup|(?<!JDBC)Timer|Assertion|Manager|Collector|Summariser|Visualizer)|TestPlan"
    r"|Arguments|ConfigTestElement|CSVDataSet|CounterConfig|RandomVariableConfig|UserParameters"
    r"|(CriticalSection|Foreach|Generic|If|Include|Loop|Module|OnceOnly|Random|RandomOrder|Recording"
    r"|Switch|TestFragment|Throughput|Transaction|WeightedSwitch|While)Controller|InterleaveControl"
    r"|RunTime|ParallelSampler|HTTPSampler(Proxy|2)?|(Ajp|Debug|FTP|Smtp|System|TCP)Sampler"
    r"|TestAction|(Regex|JMESPath|XPath2?|Boundary|Html|JSONPath)Extractor|JSONPostProcessor"
    r"|DebugPostProcessor|ResultAction|ResultSaver|SampleTimeout|BackendListener|KeystoreConfig"
    r"|LoginConfig|URLRewritingModifier|AnchorModifier|RandomCSVDataSetConfig"
    r"|JDBC(DataSource|Sampler|PreProcessor|PostProcessor)|(Proxy|HttpMirror)Control|WorkBench"
)
#: Of those, what sends nothing, or has a shell of its own read what it holds.
_NOT_SENT = re.compile(
    r"\w*(Assertion|Collector|Summariser|Visualizer|Listener|Extractor|PostProcessor|Saver|Control)"
    r"|SystemSampler|InterleaveControl"
)
#: What extractors and functions set beside a variable itself.
_FAMILY = re.compile(r"_(n|#|matchNr|ALL|RAW|g\d*|\d+(_g\d*)?)")
#: Uses of a thread's variables in a script that say which, and of its number; and what may set
#: others, or change what a sampler sends.
_LITERAL = re.compile(
    r"""\bvars\s*\.\s*(?:put|putObject|remove|get|getObject)\s*\(\s*(["'])[^"'$]+\1\s*(?:\\?,|\))"""
    r"""|\bctx\s*\.\s*(?:threadNum\b|getThreadNum\s*\()"""
)
_ANY = re.compile(
    r"\b(vars|ctx|sampler|binding|evaluate|source|Eval|GroovyShell|JMeterContextService)\b|[vV]ariables"
)
_SCRIPTS = ("__groovy", "__javaScript", "__jexl2", "__jexl3", "__BeanShell")
#: Functions whose arguments name no variable for the result.
_SET_NONE = re.compile(
    "__(P|V|char|eval|evalVar|isVarDefined|isPropDefined|log|logn|setProperty|urlencode|urldecode"
    "|escapeHtml|escapeXml|unescape|unescapeHtml|CSVRead|XPath)"
)
#: A name within a name, which JMeter reads up to the first brace.
_NESTED = re.compile(r"\$\{([^(){},$\\]+\$\{[^(){},$\\]+)\}")
_NAME = re.compile(r"[^\W\d][\w .-]*")
#: What JMeter sets itself.
PREDEFINED = re.compile(r"JMeterThread\..+|(TEST)?START\.\w+|__.*")
#: Names that a refusal lists.
_SHOWN = 12
_TABLES = ("TestPlan", "Arguments")


@dataclass(frozen=True)
class Unset:
    """A reference to a variable that nothing sets. groups: thread groups that set it, whose threads
    keep it to themselves. names: what is set where it is read."""

    element: Element
    name: str
    groups: tuple[str, ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        text = f"{self.element.title} refers to ${{{self.name}}}, which "
        if self.groups:
            return (
                f"{text}only the thread group {self.groups[0]!r} sets, and threads of others do "
                "not see: hand it over by ${__setProperty(...)} and ${__P(...)}"
            )
        if "${" in self.name:
            return f"{text}is no name to JMeter: write ${{__V({self.name}}})}}"
        near = closest(self.name, self.names)
        step = f"set are {some_of(self.names, _SHOWN)}" if self.names else "the plan sets none"
        step = f"did you mean ${{{near}}}?" if near else step
        return f"{text}nothing sets: {step}"


class _Reader(Expander):
    """Notes the variables that texts refer to, and those that functions in them set."""

    def __init__(self) -> None:
        super().__init__({}, {})
        self.read: list[str] = []
        self.set: set[str] = set()
        self.calls: list[str] = []

    def _reference(self, text: str, start: int) -> tuple[ExpandedText, int]:
        before = len(self.read)
        expanded = super()._reference(text, start)
        if text.startswith(tuple(f"${{{name}(" for name in _SCRIPTS), start):
            del self.read[before:]  # a script's own language has such variables as well
        elif nested := _NESTED.match(text, start):
            self.read.append(nested[1])
        return expanded

    def _named(self, name: str, source: str) -> ExpandedText:
        if not name.startswith("__"):
            self.read.append(name)
        return unknown(source, source)

    def _call(self, name: str, arguments: Sequence[ExpandedText], source: str) -> ExpandedText:
        self.calls.append(source[: 2 + len(name) + source.startswith("(", 2 + len(name))])
        if not _SET_NONE.fullmatch(name):
            words = (it.shown.strip() for it in arguments)
            self.set.update(word for word in words if _NAME.fullmatch(word))
        return unknown(source, source)


def _read(element: Element) -> _Reader:
    reader = _Reader()
    for _, _, text in element.references:
        reader.expand(text)
    return reader


def variables_in(element: Element) -> list[str]:
    """The variables that an element refers to, each once."""
    return [*dict.fromkeys(_read(element).read)]


def calls_in(element: Element) -> list[str]:
    """The functions that an element calls, each once, as far as the parenthesis: `${__time(`."""
    return [*dict.fromkeys(_read(element).calls)]


def left_in_tables(root: Element) -> dict[str, list[str]]:
    """By name of a user defined variable, the ${name} that stand in its value all the while, and
    the calls in it as in calls_in: JMeter evaluates it once, before any thread, and knows those of
    the tables before it alone. Source: JMeter 5.6.3, PreCompiler."""
    left: dict[str, list[str]] = {}
    for table in (it for it in root.walk() if it.kind in _TABLES):
        own = {}
        for name, value in table.pairs:
            reader = _Reader()
            reader.expand(value)
            read = [each for it in reader.read for each in left.get(it, [f"${{{it}}}"])]
            own[name] = [*read, *reader.calls]
        left |= own
    return left


@dataclass
class _Set:
    """What elements set: names, those of which there may be several, and whether it may be any."""

    names: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    may_be_any: bool = False

    def add(self, element: Element, folder: Path, expander: Expander, stale: bool) -> None:
        own = {*set_by(element)}
        functions = _read(element).set
        self.names |= own | functions
        self.families |= functions
        if not (element.kind in _TABLES or element.kind == "UserParameters"):
            self.families |= own
        if element.kind == "CookieManager":
            self.families.add("COOKIE")
        if "CSVDataSet" in element.kind:
            columns = None if stale else feed_of(element, folder, expander).columns
            self.names.update(columns or ())
            self.may_be_any |= columns is None
        self.may_be_any |= _may_set_any(element)

    def has(self, name: str) -> bool:
        if name in self.names or (name.startswith("COOKIE_") and "COOKIE" in self.families):
            return True
        places = (it.start() for it in re.finditer("_", name))
        return any(name[:at] in self.families for at in places if _FAMILY.fullmatch(name, at))


def _may_set_any(element: Element) -> bool:
    texts = [text for _, _, text in element.references]
    if element.is_script:
        if element.is_script_in_a_file:
            return True
        texts = [*element.props.values()]
    elif not _PLAIN.fullmatch(element.kind):
        return True
    else:
        texts = [it for it in texts if any(f"{name}(" in it for name in _SCRIPTS)]
    return any(_ANY.search(_LITERAL.sub("", text)) for text in texts)


def unset(
    root: Element, folder: Path, expander: Expander, added: Iterable[str] = ()
) -> Iterator[Unset]:
    """References of what JMeter sends that nothing sets. folder: from which it reads data. added:
    variables that a run gives the plan."""
    stale = may_be_written(root)
    around = [it for top in root.active if not top.is_thread_group for it in top.walk()]
    common = _Set({*added})
    common.names.update(name for it in root.walk() if it.kind in _TABLES for name, _ in it.pairs)
    for each in (root, *around):
        common.add(each, folder, expander, stale)
    own = [(group, _Set()) for group in root.thread_groups]
    for group, its in own:
        for each in group.walk():
            its.add(each, folder, expander, stale)
    has_script = any(it.is_script for it in root.walk())
    # What is around all groups may be for one that sets what it reads.
    parts = [((root, *_configured(root)), [its for _, its in own])]
    parts += [(tuple(group.walk()), [its]) for group, its in own]
    for elements, theirs in parts:
        if not any(it.may_be_any for it in (common, *theirs)):
            # A script may fill in what stands in a table.
            sent = (it for it in elements if not (has_script and it.kind in _TABLES))
            yield from _unset_of(sent, [common, *theirs], own)


def _unset_of(
    elements: Iterable[Element], theirs: Sequence[_Set], own: Iterable[tuple[Element, _Set]]
) -> Iterator[Unset]:
    names = tuple(sorted({name for its in theirs for name in its.names}))
    for each in elements:
        is_sent = not (each.is_script or _NOT_SENT.fullmatch(each.kind))
        for name in variables_in(each) if is_sent else ():
            if not PREDEFINED.match(name) and not any(its.has(name) for its in theirs):
                groups = tuple(group.name for group, its in own if its.has(name))
                yield Unset(each, name, groups, names)


def _configured(root: Element) -> Iterator[Element]:
    """What is around the thread groups and applies to them; a fragment runs where it is put."""
    for top in root.active:
        if not top.is_thread_group and top.kind != FRAGMENT:
            yield from top.walk()
