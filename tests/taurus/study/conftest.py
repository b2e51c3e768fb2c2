"""A service `study` over a configuration, without Taurus's engine."""

import logging
import subprocess
import sys
from types import SimpleNamespace

import pytest
from bzt.utils import BetterDict

from support.study_kind import kind
from tollgate.base.paths import SUITE
from tollgate.targets import pm2
from tollgate.taurus import study
from tollgate.taurus.study import Study

DESIGN = str(SUITE / "data" / "study.csv")
HERE = "9.0.0"  # autocannon
APPS = pm2.declared_apps()


@pytest.fixture
def service(monkeypatch, tmp_path, caplog):
    """Makes the service over a configuration; it has not been prepared."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(study.pm2, "declared_apps", lambda: APPS)
    monkeypatch.setattr(study.autocannon, "installed_version", lambda: HERE)
    for name in ("RELOAD_EVERY", *study.settings.ENVIRONMENT):
        monkeypatch.delenv(name, raising=False)

    def make(config=None, **settings):
        made = Study()
        made.log = logging.getLogger("study")
        made.settings = BetterDict.from_dict({"class": "x", "design": DESIGN, **settings})
        executor = SimpleNamespace(process=None, kpi_jtl=str(tmp_path / "kpi.jtl"))
        made.engine = SimpleNamespace(
            config=config or kind(),
            artifacts_dir=str(tmp_path),
            provisioning=SimpleNamespace(executors=[executor]),
            stopping_reason=None,
        )
        return made

    return make


@pytest.fixture
def prepared(service):
    def prepare(*arguments, **settings):
        made = service(*arguments, **settings)
        made.prepare()
        return made

    return prepare


@pytest.fixture
def running():
    """A process that stands for JMeter; ends when its standard input does."""
    program = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as process:
        yield process
