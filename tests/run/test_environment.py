"""What a verdict says of the machine and the plans that it holds for."""

import hashlib
import subprocess

import pytest

from tollgate.run import environment


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_each_file_of_a_plan_keeps_its_hash_whatever_it_is_called(tmp_path):
    files = {
        "mine.jmx": "<plan/>",
        "a/login.jmx": "<a/>",
        "b/login.jmx": "<b/>",
        "parts/cart.xml": "<cart/>",
        "parts/größe": "<größe/>",
    }
    for name, text in files.items():
        path = tmp_path / "plan" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    kept = environment.fingerprint(tmp_path / "plan")["plans"]
    assert kept == {name: sha256(text) for name, text in files.items()}
    assert list(kept) == sorted(kept)


def test_a_run_that_never_began_has_no_plan():
    assert environment.fingerprint()["plans"] == {}


@pytest.mark.parametrize(
    "problem",
    [subprocess.TimeoutExpired("git", 20), PermissionError("git")],
    ids=["too slow", "not for us"],
)
def test_a_command_that_does_not_answer_leaves_its_version_unknown(monkeypatch, problem):
    def fails(*_, **__):
        raise problem

    monkeypatch.setattr(environment.subprocess, "run", fails)
    found = environment.fingerprint()
    assert found["commit"] == "unknown"
    assert (found["versions"]["node"], found["versions"]["java"]) == ("unknown", "unknown")
