"""The page of a large run is small: what it weighs, and that nothing is merged twice for it."""

from dataclasses import replace

import numpy as np

from support.executions import execution
from support.watched_workers import watched, worker
from tollgate.gather.judged import Judged
from tollgate.judge.facts import JudgeSettings, LabelData, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.judge.observe import select
from tollgate.record import manifest
from tollgate.report.pages.run import criteria
from tollgate.report.pages.run.intended import Intended
from tollgate.report.pages.run.view import View
from tollgate.report.pages.run.write import to_html
from tollgate.samples.failures import FailedRequests
from tollgate.stats.counts import Counts

#: Of a run of ten million samples: labels and executions, seconds, and different times of each.
MANY, MODES, SECONDS, TIMES = 12, 2, 1_200, 12
VIOLATED = ("p50>1ms", "p90>1ms", "p95>1ms", "p99>1ms", "avg-rt>1ms", "p99.9>1ms")


def ten_million(name):
    """One of two executions that sent ten million requests together, of which one in 12 failed."""
    second = np.repeat(np.arange(SECONDS), TIMES)
    each = np.tile(np.arange(TIMES), SECONDS)
    n = np.full(len(second), -(-10_000_000 // (MANY * MODES * len(second))))
    labels = {}
    for at in range(MANY):
        # Times that no two points have in common, so that no series is shorter for it.
        took = 20 + 37 * at + 11 * each + (second * 7919 * (at + 1)) % 997
        service = Counts.of(second, took, each > 0, n=n)
        response = Counts.of(second, took + second % 13, each > 0, n=n)
        lateness = Counts.of(second, (second * 31) % 17, n=n)
        data = LabelData(f"label {at}", service, response, lateness=lateness)
        labels[data.name, False] = data
    wave = np.arange(SECONDS) * 7919 % 1009
    four = [
        worker(80 + wave / 10, str(it), cpu=wave / 11, loop_delay_p95=wave / 13) for it in range(4)
    ]
    made = execution(*VIOLATED, name=name, resources=watched(*four), measured_s=float(SECONDS))
    return replace(made, labels=labels)


def test_the_page_of_ten_million_samples_is_smaller_than_3_mb(tmp_path, monkeypatch):
    made = [ten_million(name) for name in ("fork", "cluster")]
    assert sum(it.service.total for one in made for it in one.labels.values()) >= 10_000_000
    meant = Intended(np.arange(SECONDS), np.arange(SECONDS) * 31 % 997)
    monkeypatch.setattr("tollgate.report.pages.run.write.intended", lambda *_: meant)
    failed = [
        FailedRequests(f"label {at % MANY}", False, "500", f"{at}", "x" * 900, second, 9)
        for at in range(100)
        for second in range(SECONDS)
    ]
    monkeypatch.setattr("tollgate.report.pages.run.failures.read_failures", lambda *_: failed)
    planned = [
        manifest.Execution(it.name, "plan/check.jmx", "kpi.jtl", {}, [{"mode": it.name}])
        for it in made
    ]
    record = manifest.Manifest("check", "2026-11-20T23:08:20+00:00", [], {}, {}, planned)
    run, settings = MeasuredRun(tuple(made)), JudgeSettings()
    verdict = judge(run, settings)
    assert sum(it.verdict == "FAIL" for one in verdict.executions for it in one.criteria) == 12
    html = to_html(tmp_path, Judged(record, run, settings, verdict))
    # 6 violated criteria, 5 charts over time, two of each of 12 labels, 4 of the workers.
    assert html.count("data-chart=") == 6 + 5 + 2 * 12 + 4
    assert len(html.encode()) < 3_000_000
    assert html.count(f" and {SECONDS - 8:,} more seconds") == 20


def test_labels_are_merged_once_for_all_criteria_that_are_about_them(monkeypatch):
    made = execution(*VIOLATED)
    view = View(made, "fork", 0)
    asked = []
    monkeypatch.setattr(
        "tollgate.report.pages.run.view.select", lambda *args: asked.append(args) or select(*args)
    )
    verdict = judge(MeasuredRun((made,)))
    drawn, _ = criteria.failures([view], verdict.executions, JudgeSettings(), [])
    assert len(drawn) == 6
    assert len(asked) == 1
