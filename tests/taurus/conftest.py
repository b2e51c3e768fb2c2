"""A service `compare` over a configuration."""

import json
import logging
from types import SimpleNamespace

import pytest
from bzt.utils import BetterDict

from support.compare_service import Held
from support.git_repos import SERVER, repo
from tollgate.targets import lock, pm2
from tollgate.taurus import compare as service
from tollgate.taurus.compare import Compare

VARIABLES = (
    *("BASE", "BASE_URL", "HEAD_URL", "MODE", "RELOAD_EVERY", "TOLLGATE_APPS"),
    *("INJECT_DELAY_MS", "INJECT_WORK_PERCENT", "HEAD_INJECT_DELAY_MS", "HEAD_INJECT_WORK_PERCENT"),
)


@pytest.fixture
def checkout(tmp_path):
    """A branch with a commit of its own, whose packages are installed."""
    made = repo(tmp_path / "repo")
    for name in ("package.json", "package-lock.json"):
        made.write(name, '{"packages": {}}')
    made.write(".gitignore", "node_modules/\n")
    made.write("node_modules/.package-lock.json", '{"packages": {}}')
    made.commit("on main")
    made.git("switch", "--quiet", "--create", "feature")
    made.commit("on the branch")
    return made


@pytest.fixture
def ecosystem(tmp_path, checkout, monkeypatch):
    """Has the suite declare the app `fork` of the checkout, with these settings."""
    file = tmp_path / "ecosystem.config.js"
    monkeypatch.setattr(pm2, "ECOSYSTEM", file)

    def declare(**settings):
        app = {"name": "fork", "script": SERVER, "cwd": str(checkout.root), "env": {"PORT": 3001}}
        file.write_text(f"module.exports = {{ apps: [{json.dumps(app | settings)}] }};")

    return declare


@pytest.fixture
def compare(tmp_path, checkout, ecosystem, monkeypatch, caplog):
    """Makes the service over a configuration; its `prepare` is for the test to call."""
    caplog.set_level(logging.INFO)
    ecosystem()
    for name in VARIABLES:  # set first: what a test leaves in one that was not there goes as well
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(service, "SUITE", checkout.root)
    monkeypatch.setattr(service, "BASE", tmp_path / "base")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(lock, "STARTED", tmp_path / "started.json")

    def make(
        *executions, properties=None, reload_every="off", services=None, scenario=None, **settings
    ):
        made = Compare()
        made.log = logging.getLogger("compare")
        made.settings = BetterDict.from_dict({"class": "x", "budget": "10m"} | settings)
        names = executions or ("compare",)
        modules = {
            "compare": made.settings,
            "targets": {"reload-every": reload_every},
            "jmeter": {"properties": {"warmup": 15, "measured": 0} | (properties or {})},
        }
        config = {
            "execution": [{"scenario": name} for name in names],
            "scenarios": {
                name: {"script": "plans/compare.jmx", "app": "fork"} | (scenario or {})
                for name in names
            },
            "modules": modules,
        }
        made.engine = SimpleNamespace(
            config=BetterDict.from_dict(config),
            artifacts_dir=str(tmp_path),
            services=[Held()] if services is None else services,
        )
        return made

    return make
