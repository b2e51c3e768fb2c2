"""The command that runs the findings, on scripts of the test."""

import shutil

import pytest

import support


@pytest.fixture
def findings(tmp_path):
    """Calls the command, where one finding holds and another has changed."""
    command = tmp_path / "scripts" / "dev" / "findings"
    command.parent.mkdir(parents=True)
    shutil.copy(support.ROOT / "scripts" / "dev" / "findings", command)
    folder = tmp_path / "findings"
    folder.mkdir()
    (folder / "gone.sh").write_text("echo 307\nexit 3\n")
    (folder / "stays.sh").write_text("cat\necho 308\n")  # whose input ends
    return lambda *names: support.run(command, *names, cwd=tmp_path)


def test_all_findings_have_a_line_and_a_change_its_output(findings):
    done = findings()
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["CHANGED  gone", "         307", "holds    stays"]


@pytest.mark.parametrize("name", ["stays", "stays.sh"])
def test_a_finding_that_is_named_is_run_alone(findings, name):
    done = findings(name)
    assert (done.returncode, done.stdout) == (0, "holds    stays\n")


def test_a_name_that_no_finding_has_is_refused_before_any_runs(findings):
    done = findings("stays", "stayed")
    assert (done.returncode, done.stdout) == (2, "")
    assert "findings/stayed.sh" in done.stderr
