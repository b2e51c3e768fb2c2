"""What a reader of a plan would point out in its scripts, and which files it lacks.

Source of what JMeter compiles and keeps: JMeter's manual, Component Reference, "JSR223 Sampler".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import SCRIPTS
from tollgate.plan.variables import set_anew

#: Names listed of each kind of remark.
SHOWN = 5
_UNCOMPILED = ("beanshell", "bsh", "javascript", "ecmascript", "js")
_VARIABLE = re.compile(r"\$\{(?!__)([^${}]+)\}")
_FUNCTION = re.compile(r"\$\{(__\w+)")
#: Functions that a thread never gets another value of.
_CONSTANT = ("__P", "__property", "__env", "__threadNum", "__threadGroupName", "__TestPlanName")


def scripts(root: Element) -> Iterator[str]:
    """What there is to say about the scripts of a plan's tree. Pure."""
    slow, anew, kept = [], [], []
    changing = set_anew(root)
    for element in root.walk():
        language = element.props.get("scriptLanguage", "groovy").strip().lower()
        text = element.props.get("script", "")
        if element.kind.startswith(("BeanShell", "BSF")) or language in _UNCOMPILED:
            slow.append(element.name)
        elif not element.kind.startswith("JSR223") or element.props.get("filename"):
            continue  # of a script in a file the compiled one is always kept
        elif text.strip() and element.props.get("cacheKey") == "false":
            anew.append(element.name)
        elif _changes(text, changing):
            kept.append(element.name)
    if slow:
        yield (
            f"the script of {listed(slow)} is interpreted each time, at the cost of JMeter's own "
            "cores: write it in Groovy, as a JSR223 element"
        )
    if anew:
        yield (
            f"the script of {listed(anew)} is compiled anew each time: tick 'Cache compiled script "
            "if available', and pass variables by vars.get instead of ${...}"
        )
    if kept:
        yield (
            f"the script of {listed(kept)} is kept as a thread first compiled it, with the value "
            "that a ${...} in it had then: read what changes by vars.get instead"
        )


def _changes(script: str, changing: Iterable[str]) -> bool:
    """Whether JMeter puts something into the script's text that is not the same each time.

    What no element of the plan sets may be a variable of the script's own language.
    """
    return any(name in changing for name in _VARIABLE.findall(script)) or any(
        name not in _CONSTANT for name in _FUNCTION.findall(script)
    )


def missing_files(root: Element, folder: Path, expander: Expander) -> Iterator[str]:
    """The feeds and scripts that are not there, of those whose names are known before the run.

    folder: the plan's, in which JMeter looks for both. expander: knows what the run will."""
    for element in root.walk():
        what = "CSV Data Set" if element.kind == "CSVDataSet" else element.kind
        for written in _files(element):
            file = expander.expand(written).value
            if file and not (folder / file).is_file():
                yield (
                    f"the {what} {element.name!r} names {file}, which is not there: its path "
                    "counts from the plan's folder"
                )


def _files(element: Element) -> Iterator[str]:
    # Of a script it is `filename` or `BeanShellSampler.filename`.
    if element.kind == "CSVDataSet" or element.kind.startswith(SCRIPTS):
        for name, text in element.props.items():
            if name.rpartition(".")[2] == "filename":
                yield text


def listed(names: Iterable[str]) -> str:
    """Names in quotes, each once; the first of many."""
    every = [repr(name) for name in dict.fromkeys(names)]
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more
