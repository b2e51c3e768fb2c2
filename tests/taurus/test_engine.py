"""What Taurus's engine refuses before it calls a module."""

import logging
import zipfile
from unittest.mock import Mock

import pytest
import yaml
from bzt import ManualShutdown, TaurusConfigError
from hypothesis import given
from hypothesis import strategies as st

from tollgate.base.paths import SUITE
from tollgate.install.tools import jmeter_home
from tollgate.record.redaction import Redaction
from tollgate.taurus.engine import BASE_CONFIG, Engine

SETTINGS = yaml.safe_load((SUITE / "taurus.yml").read_text())
KINDS = [*SETTINGS["cli-aliases"]]
FILES = [str(BASE_CONFIG), str(SUITE / "taurus.yml")]
OURS = [name for name, it in SETTINGS["modules"].items() if "class" in it]
#: Of the suite.
SERVICES = ("fork", "cluster")


def engine(kinds=(), **config):
    made = Engine(logging.getLogger("test"), Redaction(), list(kinds))
    made.config.merge({"settings": {"check-updates": False}, **config})
    return made


def refused(call, *given):
    with pytest.raises(TaurusConfigError) as caught:
        call(*given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def misspelt(name, at):
    """The name with two neighbours in the place of one another, or with one letter twice."""
    at %= len(name) - 1
    swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return swapped if swapped != name else name[:at] + name[at] + name[at:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at", [1, 2])
def test_a_misspelt_kind_is_refused_with_the_nearest(kind, at):
    wrong = misspelt(kind, at)
    told = refused(engine([wrong]).configure, FILES, False)
    what = "is no kind of run (cli-aliases) and no service (scenarios)"
    assert told == f"-{wrong} {what}: did you mean {kind!r}?"
    told = refused(engine(["xyz"]).configure, FILES, False)  # like no other
    assert told.endswith(f": known are {', '.join((*KINDS, *SERVICES))}")


def test_check_is_a_kind_of_a_suite_that_does_not_name_it(tmp_path):
    suite = tmp_path / "taurus.yml"
    suite.write_text("cli-aliases: {mine: {}}\n")
    made = engine(["check"])
    made.artifacts_dir = str(tmp_path / "run")
    made.configure([str(BASE_CONFIG), str(suite)], False)
    assert made.config["cli-aliases"]["check"] == {}


@given(
    st.sampled_from(["modules", "services", "reporting", "scenarios", "execution"]), st.integers(1)
)
def test_a_misspelt_section_is_refused_with_the_nearest(name, at):
    wrong = misspelt(name, at)
    told = refused(engine(**{wrong: {}}).prepare)
    assert f"the section {wrong!r}, which does not exist: did you mean {name!r}?" in told


# "epxort" is as near to another of ours, report.
@given(st.sampled_from([it for it in OURS if it != "export"]), st.integers(1))
def test_settings_of_a_module_that_there_is_not_are_refused_with_the_nearest(name, at):
    wrong = misspelt(name, at)
    modules = {wrong: {"mode": "fork"}, **{it: SETTINGS["modules"][it] for it in OURS}}
    told = refused(engine(modules=modules).prepare)
    assert f"the entry {wrong!r}, which does not exist: did you mean {name!r}?" in told


def test_sections_of_the_users_own_and_all_that_taurus_has_are_let_through(tmp_path):
    made = engine(**{"x-limits": ["p95>1s"]})
    made.artifacts_dir = str(tmp_path)
    made.configure(FILES, read_config_files=False)
    made.config["services"] = made.config["reporting"] = made.config["execution"] = []
    told = refused(made.prepare)
    assert "does not exist" not in told


def test_properties_by_which_samples_would_be_others_are_left_out_wherever_they_stand(caplog):
    both = {"sampleresult.timestamp.start": False, "users": 3}
    modules = {"jmeter": {"class": "x.Y", "properties": {**both}}}
    made = engine(modules=modules, scenarios={"a": {"properties": {**both}}, "b": {}})
    made._leave_out_properties()
    assert made.config["modules"]["jmeter"]["properties"] == {"users": 3}
    assert made.config["scenarios"] == {"a": {"properties": {"users": 3}}, "b": {}}
    told = [it.partition(": ")[0] for it in caplog.messages]
    assert told == ["modules.jmeter.properties", "scenarios.a.properties"]
    made = engine(modules=modules, scenarios={"a": {"properties": {"timer.factor": 2}}})
    assert refused(made.prepare).startswith("scenarios.a.properties: timer.factor=2 has the plan")


@pytest.fixture
def own_jmeter(tmp_path, monkeypatch):
    """The launcher of a JMeter 5.4.1 of a user's own."""
    monkeypatch.setenv("JMETER_HOME", str(jmeter_home()))
    launcher, jar = tmp_path / "own" / "bin" / "jmeter", "lib/ext/ApacheJMeter_core.jar"
    launcher.parent.mkdir(parents=True)
    launcher.touch(0o755)
    (tmp_path / "own" / jar).parent.mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "own" / jar, "w") as file:
        file.writestr("META-INF/MANIFEST.MF", "Implementation-Version: 5.4.1\n")
    return launcher


def with_jmeter(launcher):
    return engine(modules={"jmeter": {"path": str(launcher), "class": "x.Y"}}, execution=[])


def test_a_jmeter_of_the_users_own_is_used_by_all_and_its_version_told(own_jmeter, caplog):
    caplog.set_level(logging.INFO)
    made = with_jmeter(own_jmeter)
    made._take_own_jmeter()
    assert jmeter_home() == own_jmeter.parent.parent
    assert made.config["settings"]["env"]["JMETER_HOME"] == str(jmeter_home())
    assert made.config["modules"]["jmeter"]["version"] == "5.4.1"
    assert any("JMeter 5.4.1 of" in it for it in caplog.messages)
    assert sorted(it.name for it in own_jmeter.parent.iterdir()) == ["jmeter"]


def test_what_is_no_jmeter_is_refused(own_jmeter):
    told = refused(with_jmeter(own_jmeter.with_name("none")).prepare)
    assert "modules.jmeter.path " in told
    assert "name its bin/jmeter" in told


def test_the_usual_jmeter_stays(monkeypatch):
    monkeypatch.setenv("JMETER_HOME", str(jmeter_home()))
    for path in (jmeter_home() / "bin" / "jmeter", "${JMETER_HOME}/bin/jmeter"):
        before = jmeter_home()
        with_jmeter(path)._take_own_jmeter()
        assert jmeter_home() == before


@pytest.mark.parametrize("raised", [RuntimeError, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("interrupted", [False, True])
def test_an_error_of_a_module_that_a_signal_has_interrupted_is_the_interruption(
    raised, interrupted
):
    made = engine()
    made.interrupted = interrupted
    made.provisioning = Mock(check=Mock(side_effect=raised))
    made.started = [made.provisioning]
    with pytest.raises(ManualShutdown if interrupted else raised):
        made._wait()
