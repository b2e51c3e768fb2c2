"""The variables of a plan: what they are when it starts, and which of them the run sets anew. Pure.

Thread groups are read when a test starts, all below them while it runs, when a CSV Data Set, an
extractor or a script may long have put something else in the place of a user defined variable.
Source: JMeter's manual, "Functions and Variables", and Component Reference, of each element here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tollgate.plan.expressions import ExpandedText, Expander, unknown
from tollgate.plan.jmx import Element

COUNTER = "CounterConfig"
#: Where extractors of all kinds name what they set, several of them apart by semicolons.
_EXTRACTED = re.compile(r"\.(refname|referenceNames?)$")
#: Where other elements do so, by the element's tag.
_SET = {
    COUNTER: f"{COUNTER}.name",
    "ForeachController": "ForeachController.returnVal",
    "JSONPathExtractor": "VAR",
    "RandomVariableConfig": "variableName",
}
#: Where data and databases do, several apart by commas, and what saves answers to files.
_LISTED = ("variableNames", "resultVariable", "FileSaver.variablename")
#: In a script, and in a function that runs one, the name stands in quotes.
_PUT = re.compile(r"""\bvars\s*\.\s*(?:put|putObject|remove)\s*\(\s*(["'])(.+?)\1""")


def expander_of(root: Element, properties: Mapping[str, str]) -> Expander:
    """Fills in what a run's properties and a plan's variables say when the run starts."""
    return Expander(properties, _at_start(root, properties))


def running_expander_of(root: Element, properties: Mapping[str, str]) -> Expander:
    """As expander_of while the plan runs: what an element of it sets anew is not known."""
    variables = _at_start(root, properties)
    return Expander(properties, {**variables, **_unknown(set_anew(root))})


def label_expander_of(root: Element, properties: Mapping[str, str]) -> Expander:
    """As running_expander_of, and no variable is known if a CSV Data Set may set any.

    It does where its file alone names the columns: the run's copy of the plan has no such files.
    A label that is taken for another one is a wrong verdict. What this costs is a fixed label.
    """
    variables = _at_start(root, properties)
    feeds = (it for it in root.walk() if "CSVDataSet" in it.kind)
    feed = next((it for it in feeds if not it.props.get("variableNames", "").strip()), None)
    whose = f"{feed.title}, whose columns only its file names" if feed else ""
    anew = dict.fromkeys(variables, whose) if feed else {}
    return Expander(properties, {**variables, **_unknown({**anew, **set_anew(root)})})


def set_anew(root: Element) -> dict[str, str]:
    """The variables that elements set while the plan runs, each with what sets it."""
    return {name: element.title for element in root.walk() for name in set_by(element)}


def _at_start(root: Element, properties: Mapping[str, str]) -> dict[str, ExpandedText]:
    """Collect user defined variables; a later one replaces an earlier one of its name."""
    variables: dict[str, ExpandedText] = {}
    expander = Expander(properties, variables)
    for element in root.walk():
        if element.kind in ("TestPlan", "Arguments"):
            variables.update({name: expander.expand(value) for name, value in element.pairs})
    return variables


def set_by(element: Element) -> Iterator[str]:
    """The variables that an element sets, as far as the plan names them."""
    yield from filter(None, map(str.strip, _set_by(element)))


def _set_by(element: Element) -> Iterator[str]:
    for name, text in element.props.items():
        if _EXTRACTED.search(name) or name == _SET.get(element.kind):
            yield from text.split(";")
        if name in _LISTED:
            yield from text.split(",")
        yield from (put[2] for put in _PUT.finditer(text))
    yield from element.user_parameters


def _unknown(anew: Mapping[str, str]) -> dict[str, ExpandedText]:
    return {
        name: unknown(f"${{{name}}}", f"${{{name}}} may be set anew by {who}")
        for name, who in anew.items()
    }
