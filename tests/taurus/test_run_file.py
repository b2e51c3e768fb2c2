"""A wrong key of taurus.yml is refused by Tollgate before anything starts, and by the JSON Schema
that editors read, in the same words."""

import logging
import os
import re

import pytest
import yaml
from bzt import TaurusConfigError
from jsonschema import Draft202012Validator

from tollgate.base.paths import SUITE
from tollgate.base.settings import CLASS, WORDS, SettingError, form_of
from tollgate.record.redaction import Redaction
from tollgate.targets.scenarios import Probe
from tollgate.taurus import run_file, run_file_schema
from tollgate.taurus.engine import Engine

SCHEMA = yaml.safe_load(run_file_schema.schema())
FILE = SUITE / "scripts" / "tollgate" / "taurus" / "taurus.schema.json"
OWN = yaml.safe_load((SUITE / "taurus.yml").read_text())
KEYS = [
    (module, key)
    for module, model in run_file.MODULES.items()
    for key in form_of(model)["properties"]
]
every_key = pytest.mark.parametrize(("module", "key"), KEYS)


def refused_here(config):
    """What the console says, None for a file that is let through to Taurus's modules."""
    engine = Engine(logging.getLogger("test"), Redaction(), [])
    engine.config.load([str(run_file.BASE_CONFIG)])
    engine.config.merge(config)
    engine.config.get("settings")["default-executor"] = "jmeter"
    engine.unify_config()
    modules = engine.config.get("modules")
    for name in run_file.MODULES:
        modules.get(name, force_set=True)["class"] = f"tollgate.{name}"
    try:
        run_file.check(engine.config)
    except (SettingError, TaurusConfigError) as problem:
        return str(problem)
    return None


def refused_there(config):
    """[(path, message)] of what the schema refuses."""
    found = Draft202012Validator(SCHEMA).iter_errors(config)
    return [(".".join(map(str, it.absolute_path)), it.message) for it in found]


def words_at(config):
    """What an editor shows of what the schema refuses."""
    (words,) = {it.schema[WORDS] for it in Draft202012Validator(SCHEMA).iter_errors(config)}
    assert "\n" not in words
    return words


def test_the_schema_in_the_tree_is_that_of_the_models():
    if os.environ.get("TOLLGATE_WRITE_GOLDEN"):
        FILE.write_text(run_file_schema.schema())
    assert FILE.read_text() == run_file_schema.schema()
    Draft202012Validator.check_schema(SCHEMA)


def test_every_setting_is_described_and_says_what_to_write():
    for model in (*run_file.MODULES.values(), Probe):
        assert form_of(model)["description"].endswith(".")
        for key, form in form_of(model)["properties"].items():
            assert form["description"].endswith("."), key
            assert re.match("write |name at least one", form[WORDS]), key


def test_the_suite_of_this_repository_and_each_of_its_kinds_are_valid():
    assert refused_there(OWN) == []
    assert refused_here({"modules": OWN["modules"], "scenarios": OWN["scenarios"]}) is None
    for kind, changes in OWN["cli-aliases"].items():
        modules = {name: it for name, it in changes.get("modules", {}).items() if name != "jmeter"}
        assert refused_here({"modules": modules}) is None, kind


@pytest.mark.parametrize("module", run_file.MODULES)
def test_a_misspelt_setting_of_a_module_is_refused_here_and_there(module):
    keys = [*form_of(run_file.MODULES[module])["properties"]]
    wrong = f"{keys[0]}x" if keys else "wrong"
    config = {"modules": {module: {wrong: 1}}}
    here = refused_here(config)
    assert here.startswith(f"modules.{module} has the setting {wrong!r}, which does not exist: ")
    assert here.endswith(f"did you mean {keys[0]!r}?" if keys else "known are none")
    ((place, message),) = refused_there(config)
    assert place == f"modules.{module}"
    assert repr(wrong) in message
    known = ", ".join(sorted([*keys, CLASS]))
    assert words_at(config) == f"a key which does not exist: known are {known}"


@every_key
def test_a_wrong_value_is_refused_in_the_same_words(module, key):
    config = {"modules": {module: {key: {}}}}
    assert {place for place, _ in refused_there(config)} == {f"modules.{module}.{key}"}
    assert refused_here(config) == f"modules.{module}.{key} is {{}}: {words_at(config)}"


@every_key
def test_null_is_no_value_here_and_there(module, key):
    config = {"modules": {module: {key: None}}}
    assert refused_here(config) == f"modules.{module}.{key} is None: {words_at(config)}"


@pytest.mark.parametrize(
    ("setting", "right", "wrong"),
    [
        ("compare.effect", ["5%", 0.05, ".5", "${EFFECT}"], ["five", True, "5 percent"]),
        ("compare.budget", [600, "600", "10m", "1h 30min"], ["soon", "1 week", False]),
        ("compare.gates", ["p50,p95", ["p50"]], [["p51"], [], ""]),
        ("compare.mode", ["fork"], ["both", 1]),
        ("compare.base", ["main", 1234567], [["main"], True]),
        ("compare.fail-fast", [True, False], ["no", 1]),
        ("stop-when-decided.budget", ["off", False, "4m", 240], ["never", "4 weeks"]),
        ("load.factor", [1.5, "1/3", "1e3"], ["fast", True]),
        ("load.rows", ["copy", "split"], ["splitt"]),
        ("study.rounds", [20], [0, 1.5, "20"]),
        ("study.experiments", ["kittens,pi", ["pi"]], [5]),
        ("capacity.of", ["sum", ["sum", "pi"]], [[], 5]),
        ("verdict.confidence", [0.99], [99, "0.99"]),
        ("verdict.latency", ["service"], ["servce"]),
    ],
)
def test_what_a_value_may_be_is_the_same_here_and_there(setting, right, wrong):
    module, key = setting.split(".")
    for value in right:
        config = {"modules": {module: {key: value}}}
        assert refused_there(config) == []
        if "${" not in str(value):  # which Taurus replaces before that
            assert refused_here(config) is None
    for value in wrong:
        config = {"modules": {module: {key: value}}}
        assert refused_here(config).startswith(f"modules.{setting} is {value!r}: ")
        assert refused_there(config)[0][0].startswith(f"modules.{setting}")


def test_the_older_name_of_stop_when_decided_is_refused_here_and_there():
    config = {"modules": {"looks": {"budget": "4m"}}}
    assert "modules has the entry 'looks', which does not exist" in refused_here(config)
    assert refused_there(config) == [("modules.looks", "'class' is a required property")]


PROBE = {"path": "/a", "answer": "b", "anser": "c"}
ELSEWHERE = [
    ({"scenarios": {"fork": {"taget": "fork"}}}, "scenarios.fork", "target"),
    ({"scenarios": {"fork": {"probe": []}}}, "scenarios.fork", "probes"),
    ({"scenarios": {"fork": {"probes": [PROBE]}}}, "scenarios.fork.probes.0", "answer"),
    ({"execution": [{"scenario": "fork", "citeria": []}]}, "execution.0", "criteria"),
    ({"execution": [{"scenario": {"scrpt": "a.jmx"}}]}, "execution.0.scenario", "script"),
    ({"services": [{"module": "targets", "prbes": []}]}, "services.targets", "probes"),
    ({"reporting": [{"module": "passfail", "critera": []}]}, "reporting.passfail", "criteria"),
]


@pytest.mark.parametrize(("config", "place", "meant"), ELSEWHERE)
def test_a_misspelt_key_elsewhere_is_refused_here_and_there(config, place, meant):
    said = refused_here(config).removeprefix("targets: ")
    assert said.startswith(f"{place} has the setting ")
    assert said.endswith(f"which does not exist: did you mean {meant!r}?")
    assert len(refused_there(config)) == 1
    assert words_at(config).startswith("a key which does not exist: known are ")


def test_a_misspelt_key_of_a_kind_is_refused_by_the_schema():
    ((place, _),) = refused_there({"cli-aliases": {"mine": {"modules": {"load": {"facto": 2}}}}})
    assert place == "cli-aliases.mine.modules.load"
    assert refused_there({"cli-aliases": {"mine": {"~~reporting": [{"module": "passfail"}]}}}) == []
    (wrong,) = refused_there({"cli-aliases": {"mine": {"~~reportin": []}}})
    assert wrong[0] == "cli-aliases.mine"


def test_keys_of_taurus_and_of_the_user_are_let_through():
    config = {
        "x-limits": ["p95>1s"],
        "settings": {"whatever": 1},
        "modules": {
            "mine": {"class": "mine.Module", "key": 1},
            "console": {"disable": True},
            "jmeter": {"memory-xmx": "1G", "x": 1},
            "compare": {"~gates": ["p50"]},
        },
        "scenarios": {"fork": {"script": "a.jmx", "x-own": 1, "variables": {"a": 1}}},
        "execution": [{"scenario": "fork", "delay": "5s"}],
        "services": ["shellexec", {"module": "shellexec", "prepare": ["true"]}, "targets"],
        "reporting": [{"module": "junit-xml", "filename": "a.xml"}],
    }
    assert refused_there(config) == []
    config["modules"]["compare"] = {"gates": ["p50"]}  # as Taurus has merged it
    config["modules"]["console"]["class"] = "bzt.modules.console.ConsoleStatusReporter"
    config["modules"]["jmeter"]["class"] = "tollgate.taurus.jmeter.InstalledJMeter"
    assert refused_here(config) is None
