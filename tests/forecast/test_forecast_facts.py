import json
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import jtl_rows, run_folder
from support.forecasts import SHARES, day, steps_of, target_of
from support.simulated import open_model_arrivals
from tollgate.base import records
from tollgate.forecast.facts import MOST_POINTS, forecast_facts
from tollgate.forecast.load import arrival_counts, load_steps, mix_text, schedule_text
from tollgate.forecast.model import Followed
from tollgate.record import manifest
from tollgate.record.manifest import ManifestError
from tollgate.samples.reading import TRANSACTION_MESSAGE


def followed(steps):
    return Followed("data/forecast.csv", 1.0, 1440.0, tuple(steps))


def facts_of(folder, rows, steps, ended_s=None, parents=()):
    path = folder / "kpi.jtl"
    path.write_text(jtl_rows.jtl(*rows))
    return forecast_facts(path, followed(steps), jtl_rows.START_MS, ended_s, parents=parents)


def sent(facts):
    return [dict(each.sent_by_label) for each in facts.steps]


@pytest.mark.parametrize(
    ("moments", "tps", "found"),
    [
        # Steps from 5 s to 7.5 s and from there to 10 s; elapsed reaches over the border.
        ((4999, 5000, 6500, 7499, 7500, 9999, 10_000), (4, 8), [3, 2]),
        ((-3_600_000, -1, 0, 5000, 7_200_000), (4,), [1]),
    ],
)
def test_a_sample_belongs_to_the_step_in_which_it_started_or_to_none(tmp_path, moments, tps, found):
    rows = [jtl_rows.row(at, elapsed=4000) for at in moments]
    assert sent(facts_of(tmp_path, rows, steps_of(*tps))) == [{"search": it} for it in found]


def test_every_label_is_counted_failed_or_not_and_transactions_are_not(tmp_path):
    rows = [
        jtl_rows.row(5100, label="search"),
        jtl_rows.row(5100, label="search", ok=False, code="500"),
        jtl_rows.row(5200, label="login"),
        jtl_rows.row(5100, label="visit", message=f"{TRANSACTION_MESSAGE}2", code=""),
    ]
    assert sent(facts_of(tmp_path, rows, steps_of(4))) == [{"login": 1, "search": 2}]


def test_parent_samples_are_counted_for_they_stand_for_what_they_add_up(tmp_path):
    message = f"{TRANSACTION_MESSAGE}2"
    rows = [jtl_rows.row(5100, label=label, message=message) for label in ("order", "visit")]
    assert sent(facts_of(tmp_path, rows, steps_of(4), parents=["order", "none"])) == [{"order": 1}]


def test_steps_that_end_after_the_load_did_were_not_reached(tmp_path):
    rows = [jtl_rows.row(at) for at in (5000, 8000, 8400)]
    found, whole, early = (
        facts_of(tmp_path, rows, steps_of(4, 4, 4), ended_s) for ended_s in (8.5, 12.5, 2.0)
    )
    assert [each.reached for each in found.steps] == [True, False, False]
    # Pieces of a second, the last one half as long.
    assert found.timeline == ((4, 1), (4, 0), (4, 0), (4, 4))
    assert all(each.reached for each in whole.steps)
    assert early.timeline == ()


def test_the_timeline_has_both_rates_of_each_second(tmp_path):
    rows = [jtl_rows.row(5000 + 200 * number) for number in range(25)]
    found = facts_of(tmp_path, rows, steps_of(4, 8))
    assert (found.resolution_s, found.timeline) == (1, ((4, 5), (4, 5), (6, 5), (8, 5), (8, 5)))


def test_the_timeline_of_two_days_has_no_more_points_than_can_be_drawn(tmp_path):
    steps = load_steps(day(*range(24)), length=2, warmup_s=5)
    rows = [jtl_rows.row(5000 + 48_000 * number) for number in range(3600)]
    found = facts_of(tmp_path, rows, steps)
    assert (found.resolution_s, len(found.timeline)) == (48, MOST_POINTS)
    assert {got for _, got in found.timeline} == {round(1 / 48, 6)}
    assert [each.sent for each in found.steps] == [75] * 48


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.integers(-2000, 30_000), min_size=1, max_size=60),
    st.sampled_from([0.0, 5.0, 1.234]),
    st.sampled_from([0.1, 1.0, 2.571, 5000.0]),
    st.integers(1, 9),
    st.sampled_from([None, 3.21]),
)
def test_counts_are_those_of_counting_by_hand(
    tmp_path_factory, moments, from_s, length_s, count, ended_s
):
    steps = steps_of(*[2] * count, length_s=length_s, from_s=from_s)
    rows = [jtl_rows.row(at, label=f"l{at % 3}") for at in moments]
    found = facts_of(tmp_path_factory.mktemp("jtl"), rows, steps, ended_s)
    for each in found.steps:
        low, high = round(each.step.from_s * 1000), round(each.step.to_s * 1000)
        assert each.sent_by_label == Counter(f"l{at % 3}" for at in moments if low <= at < high)


def test_what_jmeter_would_send_for_a_compressed_day_is_found_step_by_step(tmp_path):
    steps = load_steps(day(*range(24)), scale=1440, warmup_s=5)
    text, events = mix_text(steps), open_model_arrivals(schedule_text(steps, 5), 21)
    rows = [
        jtl_rows.row(int(at * 1000), label=target_of(n, text)) for n, at in enumerate(events, 1)
    ]
    found = facts_of(tmp_path, rows, steps)
    assert tuple(each.sent for each in found.steps) == arrival_counts(steps)[1:]
    for each in found.steps:
        for target, share in SHARES.items():
            assert abs(each.sent_by_label.get(target, 0) - share * each.sent) < 4
    assert np.mean([got for _, got in found.timeline]) == pytest.approx(sum(range(24)) / 24)


RECORD = asdict(followed(steps_of(4, 8)))


def test_a_record_of_a_forecast_comes_back_from_json_as_it_was():
    assert records.parse(Followed, RECORD) == followed(steps_of(4, 8))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it: it.pop("steps"),
        lambda it: it.update(steps=[]),
        lambda it: it.update(factor="much"),
        lambda it: it["steps"][0].pop("shares"),
        lambda it: it["steps"][0].update(tps=float("nan")),
        lambda it: it["steps"][0].update(to_s=1.0),
        lambda it: it["steps"][1].update(from_s=7.0),
        lambda it: it["steps"][1]["shares"].update(pi=-1),
    ],
)
def test_a_record_that_no_run_wrote_is_refused(spoil):
    record = json.loads(json.dumps(RECORD))
    spoil(record)
    with pytest.raises(ValueError, match=r"steps|factor|the forecast's"):
        records.parse(Followed, record)


#: The recorded run sent 30 requests of `nap` a second for ten seconds.
def recorded(*rates):
    """The recorded run sent 30 requests of `nap` a second for ten seconds."""
    return followed(steps_of(*rates, length_s=4.0, from_s=2.0, shares={"nap": 1.0}))


def test_a_run_is_judged_by_the_forecast_in_its_folder(judged, tmp_path):
    plan = run_folder.follow(tmp_path)
    kept = judged(forecast=recorded(30, 30), **plan)
    outcomes = [each.outcome for each in kept.executions[0].forecast.steps]
    assert (kept.verdict, outcomes) == ("PASS", ["held", "held"])
    left = judged(forecast=recorded(30, 60), **plan)
    said = "(generator) nap-alone: the load left the forecast: step 2 (s1)"
    assert (left.verdict, said in run_folder.reasons(left)) == ("INVALID", True)


def test_a_folder_without_a_forecast_is_judged_as_ever(judged, tmp_path):
    assert judged().executions[0].forecast is None
    record = json.loads((tmp_path / manifest.NAME).read_text())
    del record["executions"][0]["forecast"], record["seal"]
    (tmp_path / manifest.NAME).write_text(json.dumps(record))
    assert run_folder.verdict_of(tmp_path).verdict == "PASS"


def test_a_folder_whose_forecast_was_spoiled_is_refused(judged):
    with pytest.raises(ManifestError, match=r"executions\.0\.forecast\.steps: "):
        judged(forecast=replace(recorded(30, 30), steps=()))
