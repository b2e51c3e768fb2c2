"""What scripts/bootstrap says on a machine where something is missing, too old or not fit."""

import shutil
import sys

import pytest

import support

BOOTSTRAP = support.ROOT / "scripts" / "bootstrap"
#: What the script itself is made of; everything else it must find or name.
SHELL = ("sh", "cat", "cksum", "dirname", "head", "mkdir", "sed", "sort")
OLD = {
    "node": ("Node", "v18.20.4", "18.20.4", "20"),
    "npm": ("npm", "7.24.2", "7.24.2", "8"),
    "java": ("Java", 'openjdk version "11.0.24" 2024-07-16', "11.0.24", "17"),
    "mvn": ("Maven", "\033[1mApache Maven 3.6.3\033[m (cecedd3)", "3.6.3", "3.8"),
    "python3": ("Python", "Python 3.9.19", "3.9.19", "3.10"),
}


def tool(folder, name, says):
    support.script(folder / name, f"printf '%s\\n' '{says}' >&2")


@pytest.fixture
def machine(tmp_path):
    """A PATH on which each prerequisite is too old."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in SHELL:
        (folder / name).symlink_to(shutil.which(name))
    for name, (_, says, _, _) in OLD.items():
        tool(folder, name, says)
    return folder


def said_on(machine, tmp_path):
    env = {"PATH": str(machine), "HOME": "/nowhere"}
    done = support.run(machine / "sh", BOOTSTRAP, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr.splitlines()


def test_every_prerequisite_that_is_too_old_is_named_with_its_version_in_one_go(machine, tmp_path):
    first, *named = said_on(machine, tmp_path)
    assert first == "Tollgate needs these first:"
    assert named == [
        f"  {title} {least} or later: `{name}` is version {found}"
        for name, (title, _, found, least) in OLD.items()
    ]


@pytest.mark.parametrize("name", OLD)
def test_a_missing_prerequisite_is_named_among_the_old_ones(name, machine, tmp_path):
    (machine / name).unlink()
    said = said_on(machine, tmp_path)
    title, _, _, least = OLD[name]
    assert f"  {title} {least} or later: no `{name}` that runs on PATH" in said
    assert len(said) == 1 + len(OLD)


def test_versions_are_compared_as_numbers(machine, tmp_path):
    tool(machine, "python3", "Python 3.10.0")
    tool(machine, "mvn", "Apache Maven 3.10.1")
    tool(machine, "java", 'openjdk version "17" 2021-09-14')
    tool(machine, "node", "v100.0.0")
    assert said_on(machine, tmp_path)[1:] == ["  npm 8 or later: `npm` is version 7.24.2"]


@pytest.mark.parametrize(
    "picked_up",
    [
        "Picked up JAVA_TOOL_OPTIONS: -Dfile.encoding=UTF-8",
        "NOTE: Picked up JDK_JAVA_OPTIONS: -XX:ActiveProcessorCount=2",
    ],
)
def test_options_that_java_picks_up_are_no_version(picked_up, machine, tmp_path):
    tool(machine, "java", f'{picked_up}\nopenjdk version "17.0.15" 2025-04-15')
    tool(machine, "mvn", f"{picked_up}\nApache Maven 3.9.9")
    said = "\n".join(said_on(machine, tmp_path))
    assert [it in said for it in ("`npm` is version", "Java", "Maven")] == [True, False, False]


def test_a_python_without_its_venv_module_is_named_with_the_package(machine, tmp_path):
    (machine / "python3").write_text('#!/bin/sh\n[ "$1" != -c ] && echo Python 3.11.2\n')
    assert said_on(machine, tmp_path)[-1].startswith("  Python's venv module: ")


def test_tools_are_assembled_without_any_package_of_python(tmp_path):
    env = {"PYTHONPATH": str(support.ROOT / "scripts"), "PYTHONDONTWRITEBYTECODE": "1"}
    bare = sys.executable, "-S", "-c", "import tollgate.install.assemble"
    done = support.run(*bare, cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
