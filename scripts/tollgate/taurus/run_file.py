"""taurus.yml: which keys are Tollgate's, and the refusal of others among them.

What Taurus has keys for of its own is left to Taurus, but where a misspelt key of Tollgate's could
stand among them: in sections, modules, scenarios, executions and entries of lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bzt
import yaml
from bzt.linter import ToplevelChecker

from tollgate.base.settings import CLASS, configured, form_of, read, refuse_other
from tollgate.compare.settings import CompareSettings
from tollgate.service.model import ServiceSettings
from tollgate.study.settings import StudySettings
from tollgate.targets.reloads import TargetsSettings
from tollgate.targets.scenarios import probes_of
from tollgate.taurus.capacity import SearchSettings
from tollgate.taurus.load import LoadSettings
from tollgate.taurus.own_plan import PlanSettings
from tollgate.taurus.refusals import LOAD_SETTINGS, VerdictSettings
from tollgate.taurus.report import ReportSettings
from tollgate.taurus.stop_when_decided import StopSettings

#: Taurus's own modules and aliases.
BASE_CONFIG = Path(bzt.__file__).parent / "resources" / "10-base-config.yml"
#: The kinds of run, with the modules that they need.
KINDS_CONFIG = Path(__file__).with_name("kinds.yml")


@configured
class NoSettings:
    """It has no settings."""


MODULES = {
    "plan": PlanSettings,
    "load": LoadSettings,
    "stop-when-decided": StopSettings,
    "study": StudySettings,
    "compare": CompareSettings,
    "capacity": SearchSettings,
    "targets": TargetsSettings,
    "progress": NoSettings,
    "export": NoSettings,
    "report": ReportSettings,
    "live": NoSettings,
    "verdict": VerdictSettings,
    "passfail": NoSettings,
}
SECTIONS = tuple(ToplevelChecker.KNOWN_TOPLEVEL_SECTIONS)
#: Keys with such a name are the user's own, to be referred to by YAML's anchors.
OWN = "x-"
_CRITERIA = {
    "description": "What must not happen, such as `p95 of search>200ms`: docs/criteria.md.",
    "type": ["array", "object"],
}
_PROBES = {
    "description": "Sent to the target before any load; the answers must match.",
    "type": "array",
    "items": {"$ref": "#/$defs/probe"},
}
#: Keys of a scenario, an execution and an entry under services or reporting, without Taurus's.
SCENARIO = {
    **form_of(ServiceSettings)["properties"],
    "target": {
        "description": "An app of ecosystem.config.js, or several, which the run starts.",
        "type": ["string", "array"],
        "items": {"type": "string"},
    },
    "requests": {
        "description": "What a service is asked, each with a label and a weight: docs/services.md.",
        "type": "array",
    },
    "probes": _PROBES,
    "criteria": _CRITERIA,
}
EXECUTION = {"criteria": _CRITERIA}
SERVICE = {"module": True, "run-at": True}
REPORTER = {**SERVICE, "criteria": _CRITERIA}
#: What else Taurus's JMeter reads of a scenario and of an execution.
TAURUS_SCENARIO = (
    *("script", "properties", "variables", "modifications", "data-sources", "disable-listeners"),
    *("default-address", "headers", "timeout", "think-time", "keepalive"),
    *("follow-redirects", "authorization", "protocol", "content-encoding", "store-cache"),
    *("store-cookie", "cookies", "use-dns-cache-mgr", "retrieve-resources"),
    *("retrieve-resources-regex", "concurrent-pool-size", "force-parent-sample"),
)
TAURUS_EXECUTION = (
    *("scenario", "executor", "files", "env", "delay", "start-at", "distributed"),
    *("write-xml-jtl", *LOAD_SETTINGS),
)


def with_kinds(*files: str | Path) -> list[str]:
    """The files of settings, behind that of the kinds where none of them has `services`: then they
    describe what is tested alone. What can't be read is left to Taurus."""
    given = list(map(str, files))
    for file in given:
        try:
            read = list(yaml.safe_load_all(Path(file).read_text(encoding="utf-8")))
        except (OSError, ValueError, yaml.YAMLError):
            return given
        if any(str(key).strip("~$^") == "services" for it in read if it for key in it):
            return given
    return [str(KINDS_CONFIG), *given] if given else []


def check(config: Mapping[str, Any]) -> None:
    """Refuse what no module would read, before one is called. config: with Taurus's own modules.
    Raises SettingError and TaurusConfigError."""
    refuse_other("the configuration has the section", _not_own(config), SECTIONS)
    modules = config.get("modules")
    without = [it for it, settings in modules.items() if not _class_of(settings)]
    refuse_other("modules has the entry", without, [*MODULES, "jmeter"])
    for name, model in MODULES.items():
        if name in modules:
            read(model, modules.get(name), f"modules.{name}")
    scenarios = {f"scenarios.{name}": it for name, it in config.get("scenarios").items()}
    for place, execution in enumerate(config.get("execution", [])):
        where, inline = f"execution.{place}", execution.get("scenario", None)
        _refuse_keys(where, execution, [*EXECUTION, *TAURUS_EXECUTION])
        if isinstance(inline, dict):
            scenarios[f"{where}.scenario"] = inline
    for where, scenario in scenarios.items():
        _refuse_keys(where, scenario, [*SCENARIO, *TAURUS_SCENARIO])
        probes_of(scenario.get("probes", None), where)
    for section in ("services", "reporting"):
        for entry in config.get(section, []):
            if (name := entry.get("module", None)) in MODULES:
                _refuse_keys(f"{section}.{name}", entry, [*entry_keys(section, name)])


def _refuse_keys(where: str, settings: Mapping[str, Any], keys: Sequence[str]) -> None:
    refuse_other(f"{where} has the setting", _not_own(settings), keys)


def _not_own(keys: Iterable[object]) -> list[str]:
    return [str(it) for it in keys if not str(it).startswith(OWN)]


def _class_of(settings: object) -> str:
    return str(settings.get(CLASS, "") if isinstance(settings, dict) else settings or "")


def entry_keys(section: str, name: str) -> dict[str, Any]:
    if section == "reporting":
        return REPORTER
    return SERVICE | {"probes": _PROBES} if name == "targets" else SERVICE
