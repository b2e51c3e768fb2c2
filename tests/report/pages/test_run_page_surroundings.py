"""What stands around the results on the page of a run: its files, its command, its colours."""

import re

import pytest

from support import run_folder
from support.run_pages import text_of, two_modes
from tollgate.record import manifest
from tollgate.report.pages.run import surroundings
from tollgate.report.pages.run.view import colours
from tollgate.report.pages.run.write import write


def test_only_files_that_are_there_are_linked_and_none_outside_of_the_runs_folder(tmp_path):
    run = tmp_path / "run"
    run_folder.make(run)
    (tmp_path / "dashboard").mkdir()
    (tmp_path / "dashboard" / "index.html").write_text("another's")
    (run / "dashboard").mkdir()
    (run / "verdict.md").write_text("PASS")
    record = manifest.read(run)
    record.executions[0].name = "../.."
    manifest.write(record, run)
    page = write(run).read_text()
    (files,) = re.findall("Files of this run</h3>(.*?)</ul>", page, re.S)
    assert re.findall('href="(.*?)"', files) == ["kpi.jtl", "verdict.md", "run.json"]


def test_the_command_makes_the_same_kind_of_run_again(tmp_path):
    two_modes(tmp_path, properties={"measured": "60", "warmup": "5"})
    record = manifest.read(tmp_path)
    assert surroundings.repeat_command_line(record) is None
    assert "How it was started is unknown" in text_of(write(tmp_path))
    record.arguments = ["taurus.yml", "-compare", "-o", "modules.compare.effect=10%"]
    record.environment = {"variables": {"BASE": "v1.2", "HEAD_INJECT_DELAY_MS": "5"}}
    command = "tollgate run -compare -o modules.compare.effect=10%"
    assert surroundings.repeat_command_line(record) == f"BASE=v1.2 HEAD_INJECT_DELAY_MS=5 {command}"
    manifest.write(record, tmp_path)
    assert f"HEAD_INJECT_DELAY_MS=5 {command}" in text_of(write(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["taurus.yml"], "tollgate run"),
        (["taurus.yml", "-shop"], "tollgate run -shop"),
        (["taurus.yml", "over.json", "-o", "a=b c"], "tollgate run over.json -o 'a=b c'"),
        (["mine.yml", "-plan"], "bzt mine.yml -plan"),
        (
            ["taurus.yml", "-o", "settings.artifacts-dir=/home/me/out", "-shop"],
            "tollgate run -shop",
        ),
    ],
)
def test_the_command_is_what_was_typed_but_for_the_folder_of_the_run(arguments, command):
    record = manifest.Manifest("any", "", [], {}, {}, [], arguments=arguments)
    assert surroundings.repeat_command_line(record) == command


def planned(name, mode):
    targets = [{"name": name, "mode": mode}] if mode else []
    return manifest.Execution(name, "plan.jmx", "kpi.jtl", {}, targets)


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (["fork", "cluster"], [0, 1]),
        (["cluster", "fork"], [1, 0]),
        (["cluster"], [1]),
        ([None], [0]),
        (["fork", "fork", None, "cluster"], [0, 2, 3, 1]),
    ],
)
def test_a_mode_has_the_same_colour_on_every_page(modes, expected):
    executions = [planned(f"execution {at}", mode) for at, mode in enumerate(modes)]
    assert colours(executions) == expected


def test_more_executions_than_colours_are_all_drawn():
    assert len(colours([planned(str(at), None) for at in range(20)])) == 20
