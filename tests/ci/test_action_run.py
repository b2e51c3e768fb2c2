"""The script of the action that runs Tollgate; the command it calls here writes down how."""

import os
import shutil
import signal

import pytest

import support
from support import ci_files
from tollgate.base.exit_codes import ExitCode

COMMAND = """echo "$(basename "$PWD") $*" >>"$ASKED"
echo "${BASE-none} $TOLLGATE_HOME" >>"$ASKED.env"
echo "$TOLLGATE_ATTEMPTS" >>"$ASKED.attempts"
[ "$1" != history ] || exit "${GATE:-0}"
exit "${CODE:-0}"
"""


class Project:
    """Tollgate's checkout as the action sees it, with a suite elsewhere."""

    def __init__(self, place):
        self.root, self.suite, self.asked = place / "project", place / "suite", place / "asked"
        shutil.copytree(ci_files.ACTIONS, self.root / ".github" / "actions")
        support.script(self.root / "scripts" / "bootstrap", "echo bootstrap")
        support.script(self.root / ".venv" / "bin" / "tollgate", COMMAND)
        self.suite.mkdir()

    def command(self, *options, **inputs):
        codes = {name: int(inputs.pop(name, 0)) for name in ("CODE", "GATE")}
        given = {name: str(value) for name, value in inputs.items()}
        env = support.environment(**ci_files.script_variables({"folder": "suite", **given}))
        env |= {"ASKED": str(self.asked), **{name: str(code) for name, code in codes.items()}}
        script = self.root / ci_files.RUN.relative_to(support.ROOT)
        return (script, *options), {"cwd": self.root.parent, "env": env}

    def run(self, *options, **inputs):
        words, how = self.command(*options, **inputs)
        return support.run(*words, **how)

    def said(self):
        return self.asked.read_text().splitlines()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_it_runs_the_check_of_all_services_without_any_input(project):
    assert project.run().returncode == 0
    assert project.said() == ["suite run -check"]


def test_service_and_kind_and_options_are_words_of_the_command(project):
    assert project.run("-o", "a=b", service="shop", kind="compare").returncode == 0
    assert project.said() == ["suite run -shop -compare -o a=b"]


def test_the_base_is_set_only_where_one_is_named_and_the_tools_are_those_of_bootstrap(project):
    for base in ("", "HEAD^1"):
        assert project.run(base=base).returncode == 0
    home = project.root / ".tollgate"
    assert (project.asked.with_suffix(".env")).read_text().splitlines() == [
        f"none {home}",
        f"HEAD^1 {home}",
    ]


def test_what_the_service_needs_is_installed_in_its_folder_first_and_its_failure_ends_it(project):
    done = project.run(install="echo there >made && ls")
    assert (project.suite / "made").read_text() == "there\n"
    assert done.stdout.splitlines() == ["bootstrap", "made"]
    assert project.run(install="exit 7").returncode == 7
    assert len(project.said()) == 1


@pytest.mark.parametrize("code", ExitCode)
def test_it_ends_with_the_code_of_the_verdict_and_only_what_is_inconclusive_runs_once_more(
    code, project
):
    assert project.run(CODE=code).returncode == code
    assert len(project.said()) == (2 if code == ExitCode.INCONCLUSIVE else 1)


@pytest.mark.parametrize("retries", [0, 2])
def test_how_often_it_is_tried_once_more_can_be_set(retries, project):
    assert project.run(CODE=ExitCode.INCONCLUSIVE, retries=retries).returncode == 5
    assert len(project.said()) == 1 + retries
    # Each of them is told among how many it shares the error, the first one too.
    shared = project.asked.with_suffix(".attempts").read_text().split()
    assert shared == [str(1 + retries)] * (1 + retries)


@pytest.mark.parametrize("code", ExitCode)
def test_in_report_only_a_verdict_leaves_the_job_green_and_an_error_does_not(code, project):
    done = project.run(CODE=code, **{"report-only": "true"})
    green = code not in (ExitCode.ERROR, ExitCode.INTERRUPTED)
    assert done.returncode == (0 if green else code)
    warned = code in (ExitCode.FAIL, ExitCode.INVALID, ExitCode.INCONCLUSIVE)
    assert ("::warning::" in done.stdout) == warned


@pytest.mark.parametrize("gate", [ExitCode.PASS, ExitCode.FAIL])
@pytest.mark.parametrize("code", ExitCode)
def test_with_a_history_all_records_decide_in_place_of_a_verdict_but_of_none_that_left_no_record(
    code, gate, project
):
    done = project.run(CODE=code, GATE=gate, history="true", base="v1.2", retries=0)
    has_record = code in (ExitCode.PASS, ExitCode.FAIL, ExitCode.INCONCLUSIVE)
    assert done.returncode == (gate if has_record else code)
    asked = ["suite run -check", *["suite history --gate --run reports/latest"] * has_record]
    assert project.said() == asked


def test_a_job_that_is_cancelled_ends_the_run_and_waits_for_it(project):
    waits = 'trap "echo ended >>$ASKED; exit 2" TERM\necho begun >>"$ASKED"\n'
    waits += "while :; do sleep 0.05; done\n"
    support.script(project.root / ".venv" / "bin" / "tollgate", waits)
    words, how = project.command()
    process = support.start(*words, output=project.root / "output", **how)
    support.wait_until(project.asked.exists, "it runs")
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(30) == ExitCode.INTERRUPTED
    assert project.said() == ["begun", "ended"]
