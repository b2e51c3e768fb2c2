"""What a verdict says of the machine and the plans that it holds for."""

import hashlib
import os
import re
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from tollgate.base.paths import SUITE
from tollgate.cli import bzt
from tollgate.compare.settings import INJECTIONS
from tollgate.record import environment
from tollgate.record.environment import SERVICE, fingerprint, variables
from tollgate.record.redaction import MARK


def test_each_file_of_a_plan_keeps_its_hash_whatever_it_is_called(tmp_path):
    names = ("mine.jmx", "a/login.jmx", "b/login.jmx", "parts/cart.xml", "parts/größe")
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"<{name}/>", encoding="utf-8")
    kept = fingerprint(tmp_path)["plans"]
    assert kept == {name: hashlib.sha256(f"<{name}/>".encode()).hexdigest() for name in names}
    assert list(kept) == sorted(kept)


def test_a_run_that_never_began_has_no_plan():
    assert fingerprint()["plans"] == {}


@pytest.mark.parametrize(
    "problem", [subprocess.TimeoutExpired("git", 20), PermissionError("git")], ids=str
)
def test_a_command_that_does_not_answer_leaves_its_version_unknown(monkeypatch, problem):
    monkeypatch.setattr(environment.subprocess, "run", Mock(side_effect=problem))
    found = fingerprint()
    assert found["commit"] == "unknown"
    assert (found["versions"]["node"], found["versions"]["java"]) == ("unknown", "unknown")


#: Set by PM2 or by ecosystem.config.js for each app, whatever their caller has.
GIVEN = {"HOST", "PORT", "NODE_APP_INSTANCE", "exec_mode", "pm_id", "BALANCER_SERVERS"}


@pytest.mark.parametrize("file", ["app/settings.js", "app/balancer/settings.js"])
def test_every_setting_of_the_service_is_known_to_change_it(file):
    read = set(re.findall(r"variable: '(\w+)'", (SUITE / file).read_text()))
    assert read - GIVEN
    assert read - GIVEN <= set(SERVICE)


def test_what_slows_head_alone_is_known_to_change_the_service():
    assert {f"HEAD_{name}" for name in INJECTIONS} <= set(SERVICE)


def test_those_that_are_set_are_recorded_and_no_other(monkeypatch):
    for name in (*variables(os.environ), "MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INJECT_DELAY_MS", "400")
    monkeypatch.setenv("BASE", "v1.2")
    monkeypatch.setenv("PI_POINTS", "")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    assert fingerprint()["variables"] == {"BASE": "v1.2", "INJECT_DELAY_MS": "400"}


OF_JAVA = ("HEAP", "JVM_ARGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


@pytest.mark.parametrize("name", [*OF_JAVA, "LD_PRELOAD", "NODE_EXTRA_CA_CERTS"])
def test_what_changes_the_generator_is_recorded_without_its_secrets(name):
    told = variables({name: "-Dstore.password=abc -Dx=y"})
    assert told == {name: "-Dstore.password=<redacted> -Dx=y"}


def test_what_is_secret_in_them_is_not():
    options = "-Xmx1g -Dstore.password={} --api-token {} -Djavax.net.ssl.keyStore=/a.jks"
    given = {"JVM_ARGS": options.format("abc", "'a b'"), "BALANCER_UPSTREAMS": "http://me:abc@a:1"}
    told = {"JVM_ARGS": options.format(*[MARK] * 2), "BALANCER_UPSTREAMS": f"http://{MARK}@a:1"}
    assert variables(given) == told


def test_bzts_arguments_are_at_hand_for_the_record(monkeypatch):
    engine = SimpleNamespace()
    made = SimpleNamespace(log=None, handle_exception=None, perform=lambda _: 3)
    monkeypatch.setattr(bzt.cli, "CLI", lambda _: made)
    monkeypatch.setattr(bzt, "secrecy", Mock())
    monkeypatch.setattr(bzt, "Engine", lambda *_: engine)
    monkeypatch.setattr(bzt, "interrupt_once", lambda _: None)
    monkeypatch.setattr(bzt.artifacts, "keep_to_own", lambda _: None)
    monkeypatch.setattr(bzt, "judge_unstarted", lambda _: None)
    monkeypatch.setenv("JMETER_HOME", os.environ.get("JMETER_HOME", ""))
    given = ["taurus.yml", "-compare", "-o", "a=b", "-o"]
    monkeypatch.setattr(sys, "argv", ["bzt", *given, "a.pass=b"])
    with pytest.raises(SystemExit):
        bzt.main()
    assert engine.arguments == [*given, "a.pass=<redacted>"]
