"""What the CI files run, run: the very commands, shortened by options behind them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import support
from e2e import bzt_run
from support import ci_files
from support.project_copy import own_project

#: What shortens each, and what its file says that a test can't have: another base, two days.
SHORT = {
    "check": (bzt_run.seconds(3, 5), {"MODE": "fork"}),
    "compare": (
        [
            *bzt_run.seconds(2, 0)[:1],
            *("modules.compare.budget=21", "modules.compare.first=21", "modules.compare.every=21"),
            *(f"modules.jmeter.properties.{each}_rate=20" for each in ("sum", "search")),
        ],
        {"BASE": "HEAD"},
    ),
    # Whether a load follows its forecast within seconds depends on what else the machine does.
    "soak": (["modules.verdict.forecast-tolerance=0.5"], {"SCALE": "17280", "MODE": "fork"}),
}


@dataclass(frozen=True)
class Ended:
    code: int
    output: str
    folder: Path
    summary: str


def ended(name: str, folder: Path) -> Ended:
    """The command of a job as GitHub would run it, to its end."""
    command = ci_files.github_commands()[name]
    options, env = SHORT[name]
    options = [f"settings.artifacts-dir={folder}/run", *options]
    text = " ".join([command.text, *(f"-o {option}" for option in options)])
    ports = {bzt_run._variable(app): str(support.free_port()) for app in bzt_run.APPS}
    page, root = folder / "summary.md", own_project()
    settings = ports | command.env | env
    settings |= {"GITHUB_STEP_SUMMARY": str(page)}
    done = support.run(
        *("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text),
        cwd=root,
        env=support.environment(**settings),
    )
    summary = page.read_text() if page.exists() else ""
    return Ended(done.returncode, done.stdout + done.stderr, folder / "run", summary)


@pytest.mark.parametrize("name", ["check", "compare", "soak"])
def test_a_command_of_the_ci_files_ends_in_a_verdict_on_the_page_of_the_job(
    name: str, tmp_path: Path
) -> None:
    run = ended(name, tmp_path)
    assert (run.folder / "verdict.json").exists(), run.output
    verdict = json.loads((run.folder / "verdict.json").read_text())
    assert (run.code, verdict["kind"]) == (verdict["exit_code"], name), run.output
    assert len(verdict["executions"]) == 1  # which MODE has chosen
    # Runs this short may not be able to tell, and a busy machine may send late; nothing else.
    bad = [each for each in verdict["reasons"] if each["verdict"] in ("FAIL", "INVALID")]
    assert not [each for each in bad if each["fault"] != "generator"], run.output
    assert run.summary == (run.folder / "verdict.md").read_text()
    assert run.summary.startswith(f"## Tollgate: {verdict['verdict']} ({name})\n")
    assert (run.folder / "junit.xml").read_text().startswith("<?xml")
