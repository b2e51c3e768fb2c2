"""`tollgate run [-SERVICE] [-KIND] [OPTIONS]`: one run of the suite, from any folder below it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tollgate.base import atomic, paths
from tollgate.install import assemble
from tollgate.service.model import is_service

#: Of taurus.yml.
SCHEMA = paths.PACKAGE / "taurus" / "taurus.schema.json"
HELP = Path(__file__).with_name("run.txt").read_text(encoding="utf-8")
KINDS = re.findall(r"^  -(\w+)", HELP.partition("variables:")[0], re.MULTILINE)
#: Options of bzt whose next word is their value.
_VALUED = ("-o", "--option", "-l", "--log")


def main(arguments: list[str]) -> None:
    """Install what is missing, then run bzt on the suite's taurus.yml; exits with its exit code."""
    if {"-h", "--help"} & set(arguments):
        print(_help(), end="")
        return
    if problem := paths.no_suite():
        sys.exit(f"tollgate: {problem}")
    lay_out_schema()
    try:
        assemble.provide()
    except assemble.InstallError as problem:
        sys.exit(f"tollgate: {problem}")
    # Files are named from where the user is; all else from the suite.
    if plan := os.environ.get("PLAN"):
        os.environ["PLAN"] = str(Path(plan).absolute())
    arguments, plans, settings = of_own_plans(arguments)
    if plans:
        # taurus.yml may name plans for the kind `plan`; a comparison is of the one named here.
        os.environ.pop("PLAN", None)
        if "-compare" not in arguments:
            settings = [f"modules.plan.path={json.dumps(plans)}", *settings]
        elif len(plans) == 1:
            os.environ["PLAN"] = plans[0]
        else:
            sys.exit(f"tollgate: a comparison is of one plan, and {len(plans)} are named: name one")
    named = [str(Path(it).absolute()) if Path(it).is_file() else it for it in arguments]
    os.chdir(paths.SUITE)
    options = [word for it in settings for word in ("-o", it)]
    sys.argv = ["bzt", paths.RUN_FILE, *named, *options]
    from tollgate.cli import bzt

    bzt.main()


def of_own_plans(arguments: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """(the arguments that are left, plans, settings) where plans are named: bzt would make
    executions of its own of them, and takes no files of properties by -q, as JMeter does."""
    if not {"-plan", "-compare"} & {*arguments}:
        return list(arguments), [], []
    left, plans, files = [], [], []
    before = ""
    for word in arguments:
        is_value = before in _VALUED
        if before == "-q" and not word.startswith("-"):
            left.pop()
            files.append(str(Path(word).absolute()))
        elif word.endswith(".jmx") and not word.startswith("-") and not is_value:
            plans.append(str(Path(word).absolute()))
        else:
            left.append(word)
        before = "" if is_value else word
    return left, plans, [f"modules.plan.property-files={json.dumps(files)}"] if files else []


def lay_out_schema() -> None:
    """Put the JSON Schema of taurus.yml where its first line names it for editors. No run needs it
    there, so that one goes on where it can't be written."""
    text, place = SCHEMA.read_text(encoding="utf-8"), paths.STATE / SCHEMA.name
    with contextlib.suppress(OSError):
        if place.is_file() and place.read_text(encoding="utf-8") == text:
            return
        place.parent.mkdir(exist_ok=True)
        atomic.write(place, text)


def _help() -> str:
    own = " ".join(f"-{it}" for it in (*services(), *own_kinds()))
    return HELP.replace("{own}", f"\nin {paths.SUITE / paths.RUN_FILE}: {own}\n" if own else "")


def own_kinds() -> list[str]:
    """The kinds of the suite's taurus.yml that are not in KINDS."""
    return sorted({*section("cli-aliases")} - {*KINDS})


def services() -> list[str]:
    """The services of the suite's taurus.yml."""
    return [str(name) for name, it in section("scenarios").items() if is_service(it)]


def section(name: str) -> dict[str, Any]:
    """Of the suite's taurus.yml; empty where it can't be read."""
    try:
        read = yaml.safe_load((paths.SUITE / paths.RUN_FILE).read_text(encoding="utf-8"))
        return dict(read[name])
    except (OSError, yaml.YAMLError, TypeError, KeyError, ValueError):
        return {}
