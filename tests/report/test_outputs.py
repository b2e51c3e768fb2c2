import io
import json
import sys
from pathlib import Path

import pytest

from support.judged import LABELS, RUNS, judged, on_label
from tollgate.judge.judgement import judge
from tollgate.record import manifest
from tollgate.report import write as outputs
from tollgate.report.markdown import to_markdown


def record(kind="check"):
    return manifest.Manifest(kind, "2026-01-01T00:00:00+00:00", [], {}, {"cores": 2}, [])


class Terminal(io.TextIOWrapper):
    """A standard output of a given encoding that is a terminal or is not."""

    def __init__(self, encoding="utf-8", is_terminal=False):
        super().__init__(io.BytesIO(), encoding=encoding, errors="strict")
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal

    def said(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def shown(monkeypatch):
    def show(run, **terminal):
        out = Terminal(**terminal)
        monkeypatch.setattr(sys, "stdout", out)
        outputs.show(judge(run))
        return out.said()

    monkeypatch.delenv("NO_COLOR", raising=False)
    return show


def test_all_three_files_tell_one_verdict_in_place_of_an_older_one(tmp_path):
    for name in ("pass", "fail"):
        outputs.write_all(tmp_path, *judged(RUNS[name]), record())
    files = sorted(each.name for each in tmp_path.iterdir())
    assert files == ["junit.xml", "verdict.json", "verdict.md"]
    content = json.loads((tmp_path / "verdict.json").read_text())
    assert (content["verdict"], content["kind"]) == ("FAIL", "check")
    assert content["environment"] == {"cores": 2}
    assert "<failure " in (tmp_path / "junit.xml").read_text()
    assert (tmp_path / "verdict.md").read_text().startswith("## Tollgate: FAIL (check)\n")


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_any_label_can_be_written_to_files(label, tmp_path):
    outputs.write_all(tmp_path, *judged(on_label(label, name=label)), record(kind=label))
    for name in ("verdict.json", "junit.xml", "verdict.md"):
        assert (tmp_path / name).read_text(encoding="utf-8")


def test_the_summary_is_added_to_the_page_of_a_github_job(tmp_path, monkeypatch):
    page = tmp_path / "summary.md"
    page.write_text("what another step said\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    passed, failed = judge(RUNS["pass"]), judge(RUNS["fail"])
    outputs.append_summary(tmp_path, passed, "check")
    outputs.append_summary(tmp_path, failed, "🐌")
    expected = to_markdown(passed, "check") + to_markdown(failed, "🐌")
    assert page.read_text(encoding="utf-8") == "what another step said\n" + expected


def test_a_step_of_github_gets_the_verdict_and_its_files_as_outputs(tmp_path, monkeypatch):
    said, folder = tmp_path / "said", tmp_path / "a run"
    monkeypatch.setenv("GITHUB_OUTPUT", str(said))
    outputs.append_summary(folder, judge(RUNS["fail"]), "check")
    expected = {"verdict": "FAIL", "folder": folder}
    expected |= {"page": folder / "index.html", "junit": folder / "junit.xml"}
    assert said.read_text() == "".join(f"{name}={it}\n" for name, it in expected.items())


@pytest.mark.parametrize("value", [None, ""])
def test_without_such_a_page_nothing_is_written(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if value is None:
        monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    else:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", value)
    outputs.append_summary(tmp_path, judge(RUNS["pass"]), "check")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("page", ["", "not/there/summary.md"])
def test_a_page_that_cannot_be_written_to_is_told_and_takes_no_verdict_away(
    page, tmp_path, monkeypatch, capsys
):
    path = str(tmp_path / page)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", path)
    outputs.append_summary(tmp_path, judge(RUNS["fail"]), "check")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"tollgate: GITHUB_STEP_SUMMARY is {path!r}, which can't be written to")
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_is_told_in_colour_unless_no_color_is_set_and_a_file_is_not(shown, monkeypatch):
    assert "\033[31mFAIL\033[0m: " in shown(RUNS["fail"], is_terminal=True)
    assert "\033" not in shown(RUNS["fail"])
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in shown(RUNS["fail"], is_terminal=True)
    # no-color.org: an empty variable is as good as none.
    monkeypatch.setenv("NO_COLOR", "")
    assert "\033[31m" in shown(RUNS["fail"], is_terminal=True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_no_encoding_of_the_terminal_keeps_the_verdict_from_being_told(shown, label, encoding):
    said = shown(on_label(label, name=label), encoding=encoding)
    assert "\nFAIL: 1 of 2 criteria hold; the fault of the service\n" in said
