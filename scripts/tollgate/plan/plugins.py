"""Which classes a plan names that the installed JMeter does not have, and what brings them.

JMeter refuses a plan as a whole, disabled elements included, for one class that it can't find.
Which plugin has a class is known to the Plugins Manager, from the lists of jmeter-plugins.org.
"""

from __future__ import annotations

import re
import shlex
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lxml import etree

from tollgate.base.text import some_of
from tollgate.plan.jmx import parsed
from tollgate.plan.nodes import class_name

#: Elements of the file's own form, which are no classes.
_FORM = re.compile(r"jmeterTestPlan|hashTree|testelement|\w+Prop|name|value|savedValue")
_CLASS = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*")


def missing(files: Iterable[Path], home: Path) -> dict[str, Path]:
    """The classes that a plan, with what it includes, names and that JMeter would not find in its
    home or beside the plan, each with the first file that names it; in the plan's order. Raises
    OSError for a home that can't be read."""
    files = list(files)
    aliases = set(_aliases(home))
    naming: dict[str, Path] = {}
    for file in files:
        for name in _classes(file):
            naming.setdefault(name, file)
    classes = [name for name in naming if name not in aliases]
    if not classes:
        return {}
    jars = [*home.glob("lib/ext/*.jar"), *home.glob("lib/*.jar"), *home.glob("lib/junit/*.jar")]
    jars += [jar for folder in {file.parent for file in files} for jar in folder.glob("*.jar")]
    absent = {f"{it.replace('.', '/')}.class": it for it in classes}
    for jar in jars:
        if not absent:
            break
        absent = {file: it for file, it in absent.items() if file not in _files_in(jar)}
    return {it: naming[it] for it in absent.values()}


def advice(absent: dict[str, Path], home: Path) -> str:
    """One line on classes that are missing, as `missing` gives them, and what brings them."""
    command = home / "bin" / "PluginsManagerCMD.sh"
    files = ",".join(map(str, dict.fromkeys(absent.values())))
    return (
        f"it needs {some_of(list(absent), 3)}, which this JMeter does not have: install what has "
        f"it by `{shlex.quote(str(command))} install-for-jmx {shlex.quote(files)}` (of the Plugins "
        f"Manager); what is of no plugin there, put as a jar into {home}/lib/ext"
    )


def _aliases(home: Path) -> Iterator[str]:
    """The short names of JMeter's own classes."""
    text = (home / "bin" / "saveservice.properties").read_text("utf-8", "replace")
    for line in text.splitlines():
        names, equals, _ = line.partition("=")
        if equals and not names.startswith(("#", "_")):
            yield from (name.strip() for name in names.split(","))


def _classes(file: Path) -> Iterator[str]:
    walk = etree.iterwalk(parsed(file), events=("start",))
    for _, node in walk:
        if node.tag == "objProp":  # a class of its own, and below it nothing but that one's fields
            walk.skip_subtree()
            names = (value.get("class", "") for value in node.iterfind("value"))
            yield from (name for name in names if _CLASS.fullmatch(name) and not _of_java(name))
            continue
        if not _FORM.fullmatch(node.tag):
            yield class_name(node.tag)
        nested = node.get("elementType", "")
        if node.tag == "elementProp" and _CLASS.fullmatch(nested):
            yield nested


def _of_java(name: str) -> bool:
    """What Java itself has, some of it under a short name, such as `string` and `tree-map`."""
    return name.startswith(("java.", "javax.")) or ("." not in name and name.islower())


def _files_in(jar: Path) -> list[str]:
    """Their names; none of a jar that can't be read."""
    try:
        with zipfile.ZipFile(jar) as opened:
            return opened.namelist()
    except (OSError, zipfile.BadZipFile):
        return []
