"""The kinds that the package has for a taurus.yml that describes a service alone."""

import pytest
import yaml
from bzt.engine import Configuration

from tollgate.base.paths import SUITE
from tollgate.base.settings import SettingError
from tollgate.criteria.grammar import parse
from tollgate.service import choice
from tollgate.taurus import composition
from tollgate.taurus.run_file import KINDS_CONFIG, with_kinds

OURS = yaml.safe_load((SUITE / "taurus.yml").read_text())
KINDS = yaml.safe_load(KINDS_CONFIG.read_text())


def settings(section):
    """Those of the modules, without what belongs to the supplied targets, by their paths."""
    found = {}

    def walk(node, path):
        for key, it in node.items():
            if isinstance(it, dict):
                walk(it, (*path, key))
            else:
                found[(*path, key)] = it

    walk(section.get("modules", {}), ())
    return {key: it for key, it in found.items() if key[-1] not in ("sum_data", "of", "design")}


def workers(section):
    reporting = section.get("~~reporting", section.get("~reporting", []))
    [criteria] = [it.get("criteria") or [] for it in reporting if it["module"] == "passfail"]
    return [it for it in criteria if parse(it).is_of_workers]


@pytest.mark.parametrize("kind", KINDS["cli-aliases"])
def test_a_kind_of_the_package_is_that_of_the_suite(kind):
    own, ours = KINDS["cli-aliases"][kind], OURS["cli-aliases"][kind]
    assert settings(own) == settings(ours)
    assert own.get("settings") == ours.get("settings")
    assert not own or workers(own) == workers(ours)


def test_what_goes_for_all_kinds_is_that_of_the_suite_or_a_modules_own_default():
    own, ours = settings(KINDS), settings(OURS)
    assert own.items() <= ours.items()
    assert KINDS["settings"] == OURS["settings"]
    assert [it["module"] for it in KINDS["services"]] == [it["module"] for it in OURS["services"]]


@pytest.fixture
def configured(tmp_path):
    """The settings of a taurus.yml, with the kinds of the package where it has none."""

    def read(text):
        path = tmp_path / "taurus.yml"
        path.write_text(text)
        config = Configuration()
        config.load(with_kinds(path))
        return config

    return read


def test_a_run_file_with_services_of_its_own_is_read_alone(configured):
    assert [*configured("services: []\nscenarios: {}")] == ["services", "scenarios"]
    assert [*configured("~services: []")] == ["services"]


def test_settings_of_a_run_file_go_before_those_of_the_kinds(configured):
    config = configured("modules: {stop-when-decided: {budget: 8m}}")
    assert config["modules"]["stop-when-decided"]["budget"] == "8m"
    assert [*config["cli-aliases"]] == [*KINDS["cli-aliases"]]


def test_the_only_service_is_meant_where_none_is_named(configured):
    one = "scenarios: {a: {url: http://h, requests: [/]}}"
    assert choice.only_service(configured(one)) == "a"
    two = "scenarios: {a: {url: http://h, requests: [/]}, b: {url: http://h, requests: [/]}}"
    with pytest.raises(SettingError, match="no service is named: write one of -a, -b"):
        choice.only_service(configured(two))
    assert choice.only_service(configured(f"{one}\nexecution: [{{scenario: a}}]")) is None


def test_a_file_that_can_not_be_read_is_left_to_taurus(tmp_path):
    assert with_kinds(tmp_path / "gone.yml") == [str(tmp_path / "gone.yml")]


@pytest.mark.parametrize("kind", [it for it in KINDS["cli-aliases"] if it != "plan"])
def test_each_kind_of_the_package_has_a_plan_of_a_service_that_stands_alone(
    configured, monkeypatch, tmp_path, kind
):
    monkeypatch.setattr("tollgate.service.compose.STATE", tmp_path)
    config = configured("scenarios: {shop: {url: http://h, requests: [{label: a, url: /}]}}")
    config.merge(config["cli-aliases"][kind])
    run = composition.read_run(config, choice.only_service(config), {})
    found = composition.compose(config, run, {})
    assert found.plan == tmp_path / f"shop-{kind}.jmx"
    assert [it["scenario"] for it in config["execution"]] == ["shop"]
    if kind == "capacity":
        assert config["modules"]["capacity"]["of"] == {"a": 1.0}
