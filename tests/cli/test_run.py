"""`tollgate run` before it calls bzt."""

import os
import sys

import pytest

from tollgate.base import paths
from tollgate.base.exit_codes import ExitCode
from tollgate.cli import run


def test_the_schema_lies_where_taurus_yml_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "STATE", tmp_path / ".tollgate")
    first = (paths.SUITE / paths.RUN_FILE).read_text().splitlines()[0]
    place = tmp_path / first.partition("$schema=")[2]
    for before in (None, "of an older version"):
        if before:
            place.write_text(before)
        run.lay_out_schema()
        assert place.read_bytes() == run.SCHEMA.read_bytes()


def test_a_suite_that_can_t_be_written_to_runs_without_a_schema(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(paths, "STATE", tmp_path / "file" / ".tollgate")
    run.lay_out_schema()
    assert [it.name for it in tmp_path.iterdir()] == ["file"]


def test_plans_and_files_of_properties_are_settings_of_theirs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["-plan", "a.jmx", "b/c d.jmx", "-q", "x.properties", "-o", "modules.report=1", "y.yml"]
    left, plans, settings = run.of_own_plans(words)
    assert left == ["-plan", "-o", "modules.report=1", "y.yml"]
    assert plans == [f"{tmp_path}/a.jmx", f"{tmp_path}/b/c d.jmx"]
    assert settings == [f'modules.plan.property-files=["{tmp_path}/x.properties"]']


@pytest.mark.parametrize(
    "words",
    [
        ["-plan", "-o", "modules.plan.path=home.jmx", "-o", "modules.report=1"],
        ["-compare", "-q", "-o", "modules.compare.budget=5m"],
    ],
)
def test_the_value_of_an_option_is_no_plan_and_an_option_no_file(words):
    assert run.of_own_plans(words) == (words, [], [])


@pytest.fixture
def called(tmp_path, monkeypatch):
    """Calls the command in a folder of a user's; returns what bzt gets, and PLAN."""
    from tollgate.cli import bzt

    seen = []
    monkeypatch.setattr(run.assemble, "provide", lambda: None)
    monkeypatch.setattr(bzt, "main", lambda: seen.append((sys.argv[2:], os.environ.get("PLAN"))))
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setenv("PLAN", "another.jmx")
    monkeypatch.chdir(tmp_path)

    def call(*words):
        run.main([*words])
        return seen[-1]

    return call


def test_a_plan_named_for_a_comparison_takes_the_place_of_that_of_the_environment(called, tmp_path):
    assert called("-compare", "home.jmx") == (["-compare"], f"{tmp_path}/home.jmx")


def test_plans_named_for_their_own_kind_do_so_as_a_setting(called, tmp_path):
    path = f'modules.plan.path=["{tmp_path}/home.jmx"]'
    assert called("-plan", "home.jmx") == (["-plan", "-o", path], None)


def test_a_comparison_of_two_plans_is_refused_in_a_line(called):
    with pytest.raises(SystemExit, match=r"a comparison is of one plan, and 2 are named: name one"):
        called("-compare", "a.jmx", "b.jmx")


def test_another_kind_takes_bzts_own_arguments():
    words = ["-stress", "-q", "over.yml"]
    assert run.of_own_plans(words) == (words, [], [])


def test_the_help_has_every_exit_code_and_the_kinds_of_the_package(capsys):
    run.main(["--help"])
    out = capsys.readouterr().out
    for code in ExitCode:
        assert f"\n  {code:d} {code.name:<14}" in out
    assert out.endswith("the data cannot tell\n")
    assert "{" not in out
    assert [*run.KINDS] == [
        "check",
        "stress",
        "load",
        "soak",
        "capacity",
        "compare",
        "plan",
        "study",
    ]
