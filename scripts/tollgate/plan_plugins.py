"""Which classes a plan names that the installed JMeter does not have, and what brings them.

JMeter refuses a plan as a whole, disabled elements included, for one class that it can't find.
Source of the ids: the lists of jmeter-plugins.org that the Plugins Manager reads.
"""

from __future__ import annotations

import os
import re
import shlex
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lxml import etree

#: The plugin that has a class, by how the class's name begins; the longest beginning counts.
PLUGINS = {
    "com.atlantbh.jmeter.plugins.hadooputilities.": "jpgc-hadoop",
    "com.atlantbh.jmeter.plugins.jmstools.": "jpgc-jms",
    "com.atlantbh.jmeter.plugins.jsonutils.": "jpgc-json",
    "com.atlantbh.jmeter.plugins.oauth.": "jpgc-oauth",
    "com.blazemeter.jmeter.DirectoryListingConfig": "jpgc-directory-listing",
    "com.blazemeter.jmeter.RandomCSVDataSetConfig": "bzm-random-csv",
    "com.blazemeter.jmeter.RotatingResultCollector": "jpgc-rotating-listener",
    "com.blazemeter.jmeter.control.": "jpgc-wsc",
    "com.blazemeter.jmeter.control.VirtualUserController": "jpgc-casutg",
    "com.blazemeter.jmeter.controller.": "bzm-parallel",
    "com.blazemeter.jmeter.hls.": "bzm-hls",
    "com.blazemeter.jmeter.http.": "bzm-parallel",
    "com.blazemeter.jmeter.http2.": "bzm-http2",
    "com.blazemeter.jmeter.threads.": "jpgc-casutg",
    "com.googlecode.jmeter.plugins.webdriver.": "jpgc-webdriver",
    "eu.luminis.jmeter.wssampler.": "websocket-samplers",
    "kg.apc.jmeter.config.LockFile": "jpgc-lockfile",
    "kg.apc.jmeter.config.VariablesFromCSV": "jpgc-csvars",
    "kg.apc.jmeter.config.redis.": "jpgc-redis",
    "kg.apc.jmeter.control.ParameterizedController": "jpgc-prmctl",
    "kg.apc.jmeter.dbmon.": "jpgc-dbmon",
    "kg.apc.jmeter.functions.": "jpgc-functions",
    "kg.apc.jmeter.jmxmon.": "jpgc-jmxmon",
    "kg.apc.jmeter.modifiers.Fifo": "jpgc-fifo",
    "kg.apc.jmeter.modifiers.RawRequestSourcePreProcessor": "jpgc-httpraw",
    "kg.apc.jmeter.perfmon.": "jpgc-perfmon",
    "kg.apc.jmeter.reporters.AutoStop": "jpgc-autostop",
    "kg.apc.jmeter.reporters.ConsoleStatusLogger": "jpgc-csl",
    "kg.apc.jmeter.reporters.FlexibleFileWriter": "jpgc-ffw",
    "kg.apc.jmeter.reporters.LoadosophiaUploader": "jpgc-sense",
    "kg.apc.jmeter.reporters.bzm.": "jpgc-sense",
    "kg.apc.jmeter.samplers.DummySampler": "jpgc-dummy",
    "kg.apc.jmeter.samplers.HTTPRawSampler": "jpgc-httpraw",
    "kg.apc.jmeter.samplers.SetVariablesAction": "jpgc-prmctl",
    "kg.apc.jmeter.samplers.UDPSampler": "jpgc-udp",
    "kg.apc.jmeter.threads.": "jpgc-casutg",
    "kg.apc.jmeter.timers.": "jpgc-tst",
    "kg.apc.jmeter.vizualizers.BytesThroughput": "jpgc-graphs-additional",
    "kg.apc.jmeter.vizualizers.CompositeResultCollector": "jpgc-graphs-composite",
    "kg.apc.jmeter.vizualizers.ConnectTimes": "jpgc-graphs-additional",
    "kg.apc.jmeter.vizualizers.HitsPerSecond": "jpgc-graphs-additional",
    "kg.apc.jmeter.vizualizers.Latencies": "jpgc-graphs-additional",
    "kg.apc.jmeter.vizualizers.PageDataExtractor": "jpgc-pde",
    "kg.apc.jmeter.vizualizers.ResponseCodes": "jpgc-graphs-additional",
    "kg.apc.jmeter.vizualizers.ResponseTimesDistribution": "jpgc-graphs-dist",
    "kg.apc.jmeter.vizualizers.ResponseTimesPercentiles": "jpgc-graphs-dist",
    "kg.apc.jmeter.vizualizers.SynthesisReport": "jpgc-synthesis",
    "kg.apc.jmeter.vizualizers.ThroughputVsThreads": "jpgc-graphs-vs",
    "kg.apc.jmeter.vizualizers.TimesVsThreads": "jpgc-graphs-vs",
    # CorrectedResultCollector too: all graphs share it, and the basic ones bring it along.
    "kg.apc.jmeter.vizualizers.": "jpgc-graphs-basic",
}
#: Elements of the file's own form, which are no classes.
_FORM = re.compile(r"jmeterTestPlan|hashTree|testelement|\w+Prop|name|value|savedValue")
_CLASS = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*")


def plugin_of(name: str) -> str | None:
    """The id of the plugin that has a class, None where nobody here knows."""
    begins = [each for each in PLUGINS if name.startswith(each)]
    return PLUGINS[max(begins, key=len)] if begins else None


def missing(files: Iterable[Path], home: Path) -> list[str]:
    """The classes that a plan, with what it includes, names and that JMeter would not find in its
    home or beside the plan; in the plan's order. Raises OSError for a home that can't be read."""
    files = list(files)
    aliases = set(_aliases(home))
    named = (name for file in files for name in _classes(file))
    wanted = [name for name in dict.fromkeys(named) if name not in aliases]
    if not wanted:
        return []
    jars = [*home.glob("lib/ext/*.jar"), *home.glob("lib/*.jar"), *home.glob("lib/junit/*.jar")]
    jars += [jar for folder in {file.parent for file in files} for jar in folder.glob("*.jar")]
    for jar in jars:
        wanted = _beyond(wanted, jar)
    return wanted


def advice(names: list[str], home: Path) -> str:
    """One line on classes that are missing: what they are and the command that brings them."""
    ids = sorted({each for each in map(plugin_of, names) if each})
    unknown = [name for name in names if plugin_of(name) is None]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    steps = []
    if ids:
        steps.append(_installing(ids, home))
    if unknown:
        steps.append(f"put the jar that has {unknown[0]} into {home}/lib/ext")
    return f"it needs {shown}, which this JMeter does not have: {'; '.join(steps)}"


def _installing(ids: list[str], home: Path) -> str:
    """How to install plugins; a JMeter of somebody's own may be without the Plugins Manager."""
    command = home / "bin" / "PluginsManagerCMD.sh"
    line = f"`{shlex.quote(str(command))} install {','.join(ids)}`"
    if os.access(command, os.X_OK):
        return f"install what has it by {line}"
    jars = home / "lib" / "ext"
    return (
        "install what has it by the Plugins Manager, which is not there either: put "
        f"jmeter-plugins-manager into {jars}, then `java -cp {shlex.quote(f'{jars}/')}"
        "jmeter-plugins-manager-*.jar org.jmeterplugins.repository.PluginManagerCMDInstaller` and "
        f"{line}"
    )


def _aliases(home: Path) -> Iterator[str]:
    """The short names of JMeter's own classes."""
    text = (home / "bin" / "saveservice.properties").read_text("utf-8", "replace")
    for line in text.splitlines():
        names, equals, _ = line.partition("=")
        if equals and not names.startswith(("#", "_")):
            yield from (name.strip() for name in names.split(","))


def _classes(file: Path) -> Iterator[str]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    walk = etree.iterwalk(etree.parse(str(file), parser), events=("start",))
    for _, node in walk:
        if node.tag == "objProp":  # a class of its own, and below it nothing but that one's fields
            walk.skip_subtree()
            names = (value.get("class", "") for value in node.iterfind("value"))
            yield from (name for name in names if _CLASS.fullmatch(name) and not _of_java(name))
            continue
        if not _FORM.fullmatch(node.tag):
            yield node.tag
        nested = node.get("elementType", "")
        if node.tag == "elementProp" and _CLASS.fullmatch(nested):
            yield nested


def _of_java(name: str) -> bool:
    """What Java itself has, some of it under a short name, such as `string` and `tree-map`."""
    return name.startswith(("java.", "javax.")) or ("." not in name and name.islower())


def _beyond(names: list[str], jar: Path) -> list[str]:
    """Those of the classes that a jar does not have."""
    if not names:
        return []
    try:
        with zipfile.ZipFile(jar) as opened:
            inside = set(opened.namelist())
    except (OSError, zipfile.BadZipFile):
        return names
    return [name for name in names if f"{name.replace('.', '/')}.class" not in inside]
