"""Which apps a kind of run starts, by taurus.yml and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bzt.engine import Configuration
from bzt.utils import BetterDict

from tollgate.base.paths import RUN_FILE, SUITE
from tollgate.cli.plan import configuration
from tollgate.compare.settings import read_setup
from tollgate.service.choice import only_service
from tollgate.study.design import read_design
from tollgate.targets import pm2, scenarios
from tollgate.targets.sides import copies_of_sides
from tollgate.taurus.study import apps_of


def started(kind: str, environment: Mapping[str, str], service: str | None = None) -> list[pm2.App]:
    """service: without one all that the kind starts. Raises Pm2Error, OSError, and ValueError or
    TaurusConfigError for a file that can't be read or that names what there is not."""
    config = configuration([kind]) if (SUITE / RUN_FILE).is_file() else Configuration()
    measures = scenarios.kind_of(config)
    service = service or only_service(config)
    if service is not None:
        config["execution"] = [BetterDict.from_dict({"scenario": service})]
    if measures == "compare":
        return [] if environment.get("BASE_URL") else _sides(config, environment)
    if measures == "study":
        declared = pm2.declared_apps()
        design = SUITE / config["modules"]["study"]["design"]
        return [declared[name] for name in apps_of(read_design(design), declared)]
    executions = scenarios.executions_of(config)
    mode = environment.get("MODE")
    if mode in [name for name, _ in executions]:
        executions = [it for it in executions if it[0] == mode]
    names = []
    for name, scenario in executions:
        names += scenarios.targets_of(scenario, name) or filter(None, [scenario.get("app", None)])
    if not names:
        return []
    declared = pm2.declared_apps()
    apps = (declared[name] for name in dict.fromkeys(names) if name in declared)
    return [it for it in apps if not pm2.why_not_asked(it)]


def _sides(config: Configuration, environment: Mapping[str, str]) -> list[pm2.App]:
    """The processes of base and head."""
    [(_, scenario)] = scenarios.executions_of(config)
    app = pm2.declared_apps().get(str(scenario.get("app")))
    wanted = read_setup(config.get("modules").get("compare"), environment).settings
    sides = app and copies_of_sides(app, wanted.mode, wanted.processes, SUITE, [SUITE] * 2, {})
    return [replace(app, name=it.name, port=it.port) for side in sides or () for it in side]
