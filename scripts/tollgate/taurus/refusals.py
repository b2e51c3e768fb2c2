"""What `verdict` refuses before any load: settings and executions that would make it lie."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError
from bzt.modules.jmeter import JMeterExecutor

from tollgate.base.attempts import attempts
from tollgate.base.settings import Word, configured, read
from tollgate.judge.facts import JudgeSettings
from tollgate.plan import data_files
from tollgate.plan.jmx import read_tree
from tollgate.plan.reach import uncompared
from tollgate.plan.read import read_plan
from tollgate.plan.references import unset
from tollgate.plan.variables import running_expander_of
from tollgate.record.redaction import MARK, Redaction
from tollgate.schedule.data_rows import short_files
from tollgate.schedule.open_model import without_duration
from tollgate.taurus.jmeter import InstalledJMeter

#: Taurus rewrites every thread group of a plan for any of these.
LOAD_SETTINGS = ("concurrency", "iterations", "ramp-up", "hold-for", "throughput", "steps")


@configured
class VerdictSettings(JudgeSettings):
    """How strictly the run is judged."""

    kind: Word = "check"
    """Names the run in verdict.json and JUnit."""


def checked_settings(
    settings: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[str, dict[str, Any]]:
    """The kind of modules.verdict, and what is set of JudgeSettings. Raises SettingError."""
    own = read(VerdictSettings, settings, "modules.verdict")
    judged = {it.name: it.name.replace("_", "-") for it in fields(JudgeSettings)}
    is_set = {name: getattr(own, name) for name, key in judged.items() if key in settings}
    if (runs := attempts(environment)) > 1:
        is_set["confidence"] = round(1 - (1 - own.confidence) / runs, 12)
    return own.kind, is_set


def recorded_properties(
    plan: Path, properties: Mapping[str, Any], where: str, redaction: Redaction
) -> dict[str, str]:
    """The properties as run.json has them, without their secrets. Raises TaurusConfigError where
    the plan reads otherwise with them, for the run is judged by what run.json holds; PlanError."""
    true = {key: str(value) for key, value in properties.items()}
    shown = redaction.properties(properties)
    secret = [name for name in true if shown[name] != true[name]]
    if not secret or read_plan(plan, shown) == (meant := read_plan(plan, true)):
        return shown
    decisive = [it for it in secret if read_plan(plan, {**true, it: shown[it]}) != meant]
    raise TaurusConfigError(
        f"{where}: run.json holds {MARK} for the property {' and '.join(decisive or secret)}, and "
        "the load depends on it, so the run could not be judged again: rename the property"
    )


def refuse_missing_files(plan: Path, properties: Mapping[str, Any], where: str) -> None:
    """Raises TaurusConfigError for a CSV Data Set without its file, and PlanError."""
    for title, file in data_files.missing(plan, {key: str(it) for key, it in properties.items()}):
        raise TaurusConfigError(
            f"{where}: {title} of the plan reads {file}, which is not there or can't be read: name "
            "a file that is, relative to the plan's folder"
        )


def refuse_without_data(
    plan: Path,
    folder: Path,
    properties: Mapping[str, Any],
    variables: Iterable[str],
    until_s: float | None,
    where: str,
) -> None:
    """Raises TaurusConfigError for a ${name} that JMeter would send as it stands, a comparison that
    it does not make, a file with broken rows or too few, and a schedule that takes no time;
    PlanError. folder: in which JMeter looks for data. variables: that Taurus adds to the plan.
    until_s: when the load may end at the earliest, None where how much it sends is not known."""
    texts = {key: str(it) for key, it in properties.items()}
    root = read_tree(plan, texts)
    expander = running_expander_of(root, texts)
    lines = [*dict.fromkeys(map(str, unset(root, folder, expander, variables)))]
    lines += [*uncompared(root, expander), *data_files.broken_rows(root, folder, expander)]
    read = read_plan(plan, texts)
    lines += without_duration(read)
    if until_s is not None:
        lines += map(str, short_files(read, root, folder, expander, until_s))
    if lines:
        more = f" (and {len(lines) - 1} more such)" if lines[1:] else ""
        raise TaurusConfigError(f"{where}: {lines[0]}{more}")


def require_jmeter_plan(executor: object) -> None:
    """Raises TaurusConfigError for an execution that is none, that another executor than Tollgate's
    runs, or whose name is no folder's."""
    if not isinstance(executor, JMeterExecutor) or not executor.original_jmx:
        raise TaurusConfigError(
            f"verdict: execution {executor.label!r} is no JMeter plan: give its scenario a `script`"
        )
    if not isinstance(executor, InstalledJMeter):
        raise TaurusConfigError(
            f"verdict: execution {executor.label!r} is run by {type(executor).__name__}, which has "
            "no record of how its load ended: name tollgate.taurus.jmeter.InstalledJMeter as "
            "modules.jmeter.class"
        )
    for name in LOAD_SETTINGS:
        if executor.execution.get(name, None):
            raise TaurusConfigError(
                f"verdict: execution {executor.label!r} sets {name!r}, with which Taurus replaces "
                "the plan's thread groups: set the load by modules.jmeter.properties"
            )
    if not re.fullmatch(r"\w[\w .-]*", executor.label):  # also of a log and a class of JUnit
        raise TaurusConfigError(f"verdict: execution {executor.label!r} names a folder: rename it")
