"""What no request of a plan must hold: a variable that had no value when it was sent.

Where an extractor, a script or a function sets a variable, only the run shows whether it does. An
assertion below each HTTP sampler looks for it in what was sent, without a script and before those
of the plan: it fails such a request, whose row in the JTL then says why. Source: JMeter's manual,
Component Reference, "Response Assertion", "CSV Data Set Config"; CSVSaveService, which writes the
message of the first assertion that failed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

from lxml import etree

from tollgate.plan.data_files import EOF, feed_of, knows_of_ends
from tollgate.plan.jmx import CSV_DATA_SET, Element, added, element_of, parsed, read_tree, write
from tollgate.plan.model import HTTP
from tollgate.plan.references import PREDEFINED, calls_in, left_in_tables, variables_in
from tollgate.plan.variables import running_expander_of, set_by

#: Where a Response Assertion looks, as its element and its message say.
REQUEST, HEADERS = "request data", "request headers"
#: How the message of one begins that found a text in a request, and what it says of it.
BEGIN = "Test failed: request "
MESSAGE = re.compile(rf"Test failed: ({REQUEST}|{HEADERS}) expected not to contain /(?s:(.+))/")
#: What JMeter sends once a file is at its end, as it stands and encoded.
ENDS = (EOF, quote(EOF))
#: What holds a part of what several HTTP samplers send; and what holds some of its own.
_SHARED, _INCLUDE = ("ConfigTestElement", "HeaderManager"), "IncludeController"
#: Elements whose variables have a value in each turn.
_CERTAIN = ("TestPlan", "Arguments", "CounterConfig", "RandomVariableConfig", "UserParameters")
#: A default that says that an extractor found nothing. Others may be meant to be sent.
_NOTHING = re.compile(
    r"(?i)(.*[\W_])?(nf|n/a|undefined|unknown|missing|error|failed|failure|invalid|unset|no_?match"
    r"|not_?found|not?[\W_].+)([\W_].*)?"
)
_DEFAULT = re.compile(r"\.default(Values?)?$")
#: Calls of the functions that JMeter 5.6.3 has; what its controllers count is a variable.
_OWN = re.compile(
    r"\$\{__(BeanShell|CSVRead|FileToString|P|Random|RandomDate|RandomFromMultipleVars|RandomString"
    r"|StringFromFile|StringToFile|TestPlanName|UUID|V|XPath|changeCase|char|counter"
    r"|dateTimeConvert|digest|escapeHtml|escapeOroRegexpChars|escapeXml|eval|evalVar|groovy|intSum"
    r"|isPropDefined|isVarDefined|javaScript|jexl2|jexl3|log|logn|longSum|machineIP|machineName"
    r"|property|regexFunction|samplerName|setProperty|split|threadGroupName|threadNum|time"
    r"|timeShift|unescape|unescapeHtml|urldecode|urlencode|jm__.*)\(?"
)
#: Those by which any variable may be sent, and those by which a text in a file is.
_OF_ANY = {"${__eval(", "${__evalVar(", "${__V("}
_OF_FILES = ("${__FileToString(", "${__StringFromFile(")
#: What they are where the file is not there.
_NO_FILE = "**ERR**"
#: Characters around a variable by which its place in a request is known.
_AROUND = 16
#: What JMeter may read in another way than it is written, at the edge of those.
_EDGE = re.compile(r"[\\\r\n]")

#: By REQUEST and HEADERS, texts with the variable that each is of, empty for what any request may
#: hold, and what it shows.
Traces = Mapping[str, Mapping[str, tuple[str, str]]]


def traces(plan: Path, properties: Mapping[str, str], folder: Path) -> Traces:
    """The texts that no request of a plan must hold. folder: from which JMeter reads data; what a
    file will set that is not there yet is taken to have a value. Raises PlanError."""
    root = read_tree(plan, properties)
    expander = running_expander_of(root, properties)
    every = [*root.walk()]
    looked_for: dict[str, dict[str, tuple[str, str]]] = {REQUEST: {}, HEADERS: {}}
    feeds = [feed_of(it, folder, expander) for it in every if it.kind == CSV_DATA_SET]
    columns = {feed: feed.columns for feed in feeds}
    certain = {name for names in columns.values() for name in names or ()}
    certain.update(name for it in every if it.kind in _CERTAIN for name in _names(it))
    at_times = {name for it in every if it.kind not in _CERTAIN for name in set_by(it)}
    ending = [it for it in feeds if it.ends and not it.stops_threads and not knows_of_ends(root)]
    may_end = {name for feed in ending for name in columns[feed] or ()}
    any_may_end = any(columns[feed] is None for feed in ending)
    any_may_be_set = None in columns.values()
    left, readers = left_in_tables(root), defaultdict(list)
    for sender in (it for it in every if it.kind in (*_SHARED, *HTTP)):
        texts = looked_for[_field(sender)]
        for name in variables_in(sender):
            readers[name].append(sender)
            may_be_unset = name in at_times or not (any_may_be_set or PREDEFINED.match(name))
            if may_be_unset and name not in certain and "${" not in name:
                for text in (f"${{{name}}}", quote(f"${{{name}}}")):
                    texts.setdefault(text, (name, unset(name)))
            if name in may_end or (any_may_end and name not in certain):
                texts |= dict.fromkeys(ENDS, ("", f"{ending[0].title} was at the end of its file"))
        for text, why in _unevaluated(sender, left, certain | at_times):
            texts |= dict.fromkeys((text, quote(text)), ("", why))
    for element in every:
        for name, default in _defaults(element):
            why = f"{default!r} is the default of {element.title}, which found no ${{{name}}}"
            for sender in readers[name]:
                in_place = _in_place(sender, name, default)
                looked_for[_field(sender)] |= dict.fromkeys(in_place, (name, why))
    return looked_for


def _field(sender: Element) -> str:
    return HEADERS if sender.kind == "HeaderManager" else REQUEST


def _unevaluated(
    element: Element, left: Mapping[str, Iterable[str]], names: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """(text, why) of what JMeter may send as it stands. left: as left_in_tables has it. names: of
    the plan's variables."""
    of_tables = [text for read in variables_in(element) for text in left.get(read, ())]
    for text in (*of_tables, *calls_in(element)):
        if not text.startswith("${__"):
            yield text, f"{text} stands in a user defined variable, read only once"
        elif not _OWN.fullmatch(text):
            yield text, f"{text[2:].rstrip('(}')} is no function of this JMeter"
        elif text in _OF_FILES:
            yield _NO_FILE, f"{text[2:-1]} could not read its file"
            for each in ("${__", *(f"${{{name}}}" for name in sorted(names))):
                yield each, f"what {text[2:-1]} reads is not evaluated: write ${{__eval(...)}}"


def unset(name: str) -> str:
    """What a reference that was sent as it stands shows."""
    return f"${{{name}}} had no value"


def _names(element: Element) -> Iterator[str]:
    yield from (name for name, _ in element.pairs)
    yield from set_by(element)


def _defaults(element: Element) -> Iterator[tuple[str, str]]:
    """(variable, what an extractor sets it to where nothing matches) if that says so."""
    texts = {name.rpartition(".")[2]: text for name, text in element.props.items()}
    names = texts.get("refname") or texts.get("referenceName") or texts.get("referenceNames") or ""
    values = next((text for name, text in element.props.items() if _DEFAULT.search(name)), "")
    for name, value in zip(names.split(";"), values.split(";"), strict=False):
        if _NOTHING.fullmatch(value.strip()) and "${" not in value:
            yield name.strip(), value.strip()


def _in_place(element: Element, name: str, default: str) -> Iterator[str]:
    """The default where a text of an element has the variable, with what stands around it."""
    reference = f"${{{name}}}"
    apart = {"Argument.value": "=", "Header.value": ": "}
    for prop, row, text in element.references:
        for at in (it.start() for it in re.finditer(re.escape(reference), text)):
            literal = text[:at].rpartition("}")[2] if "${" in text[:at] else text[:at]
            before = _EDGE.split(literal)[-1][-_AROUND:]
            after = _EDGE.split(text[at + len(reference) :].partition("${")[0])[0][:_AROUND]
            name_of_row = f"{row}{apart[prop]}" if row and not at and prop in apart else ""
            if name_of_row or before:
                yield f"{name_of_row}{before}{default}{after}"
                encoded = "".join(map(quote_plus, (before, default, after)))
                yield f"{name_of_row}{encoded}"


def watch(path: Path, looked_for: Traces) -> None:
    """Write a plan anew with assertions that look for these texts, in the requests that refer to
    their variables. A header may stand around all requests, those among them that come before the
    one whose answer has its value."""
    if not any(looked_for.values()):
        return
    document, set_before = parsed(path), {""}
    trees = [it for it in document.iter("hashTree") if it.getprevious() is not None]
    elements = [element_of(it.getprevious()) for it in trees]
    of_all = {name for it in elements if it.kind in _SHARED for name in variables_in(it)}
    for tree, element in zip(trees, elements, strict=True):
        if element.kind in (*HTTP, _INCLUDE):
            own = {"", *of_all, *variables_in(element)}
            if element.kind == _INCLUDE or _OF_ANY.intersection(calls_in(element)):
                own = {name for name, _ in looked_for[REQUEST].values()}
            for field, texts in looked_for.items():
                names = set_before if field == HEADERS else own
                if here := [text for text, (name, _) in texts.items() if name in names]:
                    tree[:0] = [_assertion(field, here), etree.Element("hashTree")]
        set_before.update(set_by(element))
    write(document, path)


def _assertion(field: str, texts: Iterable[str]) -> etree._Element:
    """Of added.jmx, which fails what has (not, 4) one of these texts as a substring (16)."""
    assertion = added("ResponseAssertion")
    assertion.set("testname", f"no variable without a value in {field}")
    strings = assertion.find("collectionProp")
    for number, text in enumerate(texts):
        # A function in its place: JMeter keeps the backslash of one that is escaped alone.
        written = text.replace("${", "${__char(36)}{")
        etree.SubElement(strings, "stringProp", name=str(number)).text = written
    assertion.find("stringProp").text = f"Assertion.{field.replace(' ', '_')}"
    return assertion
