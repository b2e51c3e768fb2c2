"""The page of a run is written whatever becomes of the dashboards; if it can't be, that is told."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support import run_folder
from support.archived import unpacked
from tollgate.gather.judged import judged
from tollgate.report import dashboard
from tollgate.report.pages.kit import assemble
from tollgate.report.pages.run.write import judge_and_write
from tollgate.report.pages.runs import build
from tollgate.targets.sides import VARIABLE
from tollgate.taurus.report import Report
from tollgate.taurus.shared import under_way


@pytest.fixture
def report(tmp_path):
    """The service as a run has it that was judged."""
    run = tmp_path / "20261121T000000Z-check"
    run_folder.make(run)
    made = Report()
    made.log = logging.getLogger("report")
    provisioning = SimpleNamespace(executors=[])
    made.engine = SimpleNamespace(artifacts_dir=str(run), provisioning=provisioning)
    under_way(made.engine).judged = judged(run)
    return made


def page_of(report):
    return Path(report.engine.artifacts_dir) / "index.html"


def test_the_page_of_a_run_that_was_judged_is_written_and_named(report, capsys):
    report.post_process()
    assert "All 2 criteria hold." in page_of(report).read_text()
    assert "20261121T000000Z-check/index.html" in capsys.readouterr().out
    page_of(report).unlink()
    under_way(report.engine).judged = None
    report.post_process()
    assert not page_of(report).exists()


def test_a_folder_around_the_run_that_is_somebody_elses_is_left_alone(report, tmp_path, capsys):
    report.post_process()
    assert not (tmp_path / "index.html").exists()
    (tmp_path / "index.html").write_text("<title>My site</title>")
    report.post_process()
    assert (tmp_path / "index.html").read_text() == "<title>My site</title>"
    assert f"{tmp_path.name}/index.html" not in capsys.readouterr().out


@pytest.mark.parametrize("is_reports", [True, False], ids=["reports", "a list stands there"])
def test_the_list_of_all_runs_is_made_where_there_is_one_to_be(
    report, tmp_path, monkeypatch, capsys, is_reports
):
    if is_reports:
        monkeypatch.setattr("tollgate.taurus.report.REPORTS", tmp_path)
    else:
        build.write(tmp_path)
    report.post_process()
    assert "20261121T000000Z-check" in (tmp_path / "index.html").read_text()
    assert f"{tmp_path.name}/index.html" in capsys.readouterr().out


def test_a_run_leaves_a_record_in_the_history_and_a_step_of_a_bisect_none(
    report, tmp_path, monkeypatch
):
    monkeypatch.setattr("tollgate.taurus.report.REPORTS", tmp_path)
    run = unpacked("check-pass", tmp_path / "20261124T081500Z-check")
    report.engine.artifacts_dir = str(run)
    under_way(report.engine).judged = judge_and_write(run)
    places = run / "history.jsonl", tmp_path / "history"
    monkeypatch.setenv(VARIABLE, "{}")
    report.post_process()
    assert [it.exists() for it in places] == [False, False]
    monkeypatch.delenv(VARIABLE)
    report.post_process()
    assert [it.exists() for it in places] == [True, True]


def test_latest_points_at_the_run_among_runs_alone(report, tmp_path, monkeypatch):
    (tmp_path / "latest").write_text("somebody's notes")
    report.prepare()
    assert (tmp_path / "latest").read_text() == "somebody's notes"
    (tmp_path / "latest").unlink()
    monkeypatch.setattr("tollgate.taurus.report.REPORTS", tmp_path)
    report.prepare()
    assert (tmp_path / "latest").resolve() == page_of(report).parent


def test_a_page_that_can_not_be_made_is_one_warning(report, monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(assemble, "SCRIPTS", (tmp_path / "uPlot.js",))
    report.post_process()
    warnings = [it.getMessage() for it in caplog.records if it.levelname == "WARNING"]
    assert any(
        "no index.html: no page:" in it and "run `tollgate install`" in it for it in warnings
    )
    assert all("\n" not in it for it in warnings)


def test_who_does_not_wait_for_the_dashboards_has_verdict_and_page(report, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(dashboard, "draw_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        report.post_process()
    assert "\nPASS: " in capsys.readouterr().out
    assert page_of(report).exists()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, ["fork"]), ({"dashboards": False}, []), ({"dashboards": True}, ["fork"])],
)
def test_dashboards_are_drawn_unless_they_are_not_wanted(report, monkeypatch, settings, expected):
    drawn = []
    monkeypatch.setattr(dashboard, "draw_all", lambda _, jtls, **__: drawn.extend(jtls) or {})
    executor = SimpleNamespace(label="fork", kpi_jtl=str(page_of(report).parent / run_folder.JTL))
    report.engine.provisioning.executors.append(executor)
    report.settings = BetterDict.from_dict(settings)
    report.prepare()
    report.post_process()
    assert drawn == expected


def test_anything_else_than_true_or_false_is_refused_before_the_run(report):
    report.settings = BetterDict.from_dict({"dashboards": "no"})
    with pytest.raises(TaurusConfigError, match="dashboards is 'no': write true"):
        report.prepare()
