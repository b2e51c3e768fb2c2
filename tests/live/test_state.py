"""What a page shows of samples that come in pieces: what the verdict finds in all of them."""

import json
import math
import re
from collections import Counter

import numpy as np
import pytest

from support.archived import ARCHIVE, unpacked
from support.growing_jtl import GrowingRun
from tollgate.gather import evidence
from tollgate.live import state
from tollgate.live.state import OTHER_FAILURES, JudgedWindow, LiveSamples, WindowTimes
from tollgate.schedule.growing_samples import OTHERS

#: By timers in two executions, with criteria of all kinds, ended by looks, by an open model, and a
#: plan of somebody's own without a schedule.
RUNS = ("check-pass", "criteria", "looks-pass", "load", "plan")
PERCENTILES = (50, 95, 99)


def watched(run, pieces=12, seed=1):
    """What was seen of each execution, once its JTL has grown to its end."""
    found = [LiveSamples(it.plan, it.planned.warmup, it.planned.measured) for it in run.of]
    for samples, live in zip(run.samples, found, strict=True):
        samples.listen(live.take)
    for _ in run.grow(pieces, seed):
        pass
    for of, live in zip(run.of, found, strict=True):
        live.end(ran_out=True)
        if of.planned.decided_s is not None:
            live.decided(of.planned.decided_s, of.planned.interim.lag_s)
    return found


def figures(counts):
    return [counts.total, counts.errors, *map(counts.percentile, PERCENTILES)]


@pytest.mark.parametrize("name", RUNS)
def test_figures_of_each_label_are_those_that_are_judged(tmp_path, name):
    run = GrowingRun(unpacked(name, tmp_path))
    seen = watched(run)
    judged, _ = evidence.gather(run.folder, run.record)
    for live, execution in zip(seen, judged.executions, strict=True):
        by_now = {(key.label, key.is_transaction): it for key, it in live.by_now().items()}
        for key, data in execution.labels.items():
            own, counts = by_now[key], data.service if data.response is None else data.response
            assert own.responds == (data.response is not None)
            assert figures(own.times) == pytest.approx(
                figures(counts.window(*execution.window)), abs=0, nan_ok=True
            )
            sent = data.service.window(*execution.window)
            assert (own.sent.total, own.sent.errors) == (sent.total, sent.errors)


def test_percentiles_are_those_of_verdict_json(tmp_path):
    compared = 0
    for name in ("check-pass", "criteria", "looks-pass"):
        run = GrowingRun(unpacked(name, tmp_path / name))
        said = json.loads((ARCHIVE / name / "verdict.json").read_text())["executions"]
        for live, execution in zip(watched(run, seed=7), said, strict=True):
            by_label = {key.label: it for key, it in live.by_now().items()}
            for it in execution["criteria"]:
                of = by_label.get(it["label"])
                if not (of and re.fullmatch(r"p\d+", it["subject"])) or it["window"]:
                    continue
                if (it["basis"] == "response time") == of.responds:
                    assert of.times.percentile(float(it["subject"][1:])) == it["observed"]
                    compared += 1
    assert compared > 3


def test_the_pieces_in_which_samples_come_change_nothing(tmp_path):
    found = []
    for seed, pieces in ((1, 2), (2, 40)):
        run = GrowingRun(unpacked("check-pass", tmp_path / str(seed)))
        found.append(
            [
                {key: figures(it.times) for key, it in live.by_now().items()}
                for live in watched(run, pieces, seed)
            ]
        )
    assert found[0] == found[1]


def test_failures_are_counted_by_what_was_said_of_them(tmp_path):
    run = GrowingRun(unpacked("looks-fail", tmp_path))
    (live,) = watched(run)
    failed = [it for it in run.rows(0) if it["success"] == "false"]
    meant = Counter(
        (it["label"], it["responseCode"], it.get("failureMessage") or it["responseMessage"])
        for it in failed
    )
    assert failed
    assert live.failures == meant


def test_failures_of_more_kinds_than_fit_are_counted_together(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "MOST_FAILURES", 0)
    run = GrowingRun(unpacked("looks-fail", tmp_path))
    (live,) = watched(run)
    assert [it[2] for it in live.failures] == [OTHER_FAILURES]


def test_failures_of_a_label_are_its_own_however_many_labels_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(LiveSamples, "most_series", 1)
    run = GrowingRun(unpacked("looks-fail", tmp_path))
    (live,) = watched(run)
    keys = [it.key for it in live.series]
    failed = [it for it in keys if it.label == keys[0].label and it.ok != keys[0].ok]
    own = [it for it in run.rows(0) if it["label"] == keys[0].label]
    assert bool(failed) == (len({it["success"] for it in own}) == 2)
    assert live.rows == len(run.rows(0))


def test_a_decision_finds_what_is_judged_however_long_it_waits_for_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "KEPT_MS", 0)
    found = {}
    for lag_s in (0.0, 3600.0):
        run = GrowingRun(unpacked("check-pass", tmp_path / f"{lag_s}"))
        of = run.of[0]
        live = LiveSamples(of.plan, of.planned.warmup, of.planned.measured, lag_s=lag_s)
        run.samples[0].listen(live.take)
        assert len([*run.grow(12, 1)]) > 1
        live.decided(1.0, 0.0)
        found[lag_s] = sum(it.sent.total for it in live.by_now().values())
    assert 0 < found[3600.0] < 60 < found[0.0]


def test_labels_more_than_fit_are_counted_together(tmp_path, monkeypatch):
    monkeypatch.setattr(LiveSamples, "most_series", 2)
    run = GrowingRun(unpacked("check-pass", tmp_path))
    for place, live in enumerate(watched(run)):
        assert OTHERS in {it.key.label for it in live.series}
        assert live.rows == len(run.rows(place))


def test_ten_minutes_at_a_thousand_a_second_are_kept_as_counts():
    times, window, chosen = WindowTimes(), JudgedWindow(5.0), np.random.default_rng(1)
    everything = []
    for second in range(600):
        begin_ms = np.full(1000, 1000 * second)
        ms = chosen.integers(1, 3000, 1000)
        times.keep(begin_ms, begin_ms + ms, ms)
        times.settle(1000 * second - state.KEPT_MS, window)
        if second >= 5:
            everything.append(ms)
    whole = np.concatenate(everything)
    found = times.all(window)
    assert found.total == len(whole)
    assert figures(found)[2:] == [*np.percentile(whole, PERCENTILES)]
    assert len(times._old.n) <= 3000
    assert sum(len(part[0]) for part in times._parts) <= 64 * 1000


def test_the_last_seconds_are_of_what_ended_in_them():
    times, window = WindowTimes(), JudgedWindow(0.0)
    begin_ms, took_ms = np.array([1000, 2000, 9000]), np.array([500, 7900, 950])
    times.keep(begin_ms, begin_ms + took_ms, took_ms)
    assert times.last(window, 5000).order_statistics([1, 2]).tolist() == [950, 7900]
    assert times.all(window).total == 3


def test_what_began_behind_a_decision_or_ended_behind_its_look_is_not_counted():
    times, begin_ms = WindowTimes(), np.array([4000, 5000, 14_000, 15_000])
    times.keep(begin_ms, np.array([4100, 5100, 99_000, 15_100]), np.ones(4))
    times.settle(-math.inf, JudgedWindow(5.0))
    assert times.all(JudgedWindow(5.0)).total == 3
    assert times.all(JudgedWindow(5.0, 15.0)).total == 2
    assert times.all(JudgedWindow(5.0, 15.0, 20_000)).total == 1
