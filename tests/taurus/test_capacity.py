"""The service `capacity`: its settings, and its searches against queues of numbers."""

from __future__ import annotations

import random
import socket
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support import jmx_text as jmx
from support.growing_load import queue
from support.searching import NAME, Searched, record_of
from tollgate.base.paths import ROOT
from tollgate.capacity.arrivals import ROW, read_arrivals
from tollgate.capacity.asked import limit_of
from tollgate.capacity.record import arrivals_path, read_record, record_path, sealed
from tollgate.capacity.running import AHEAD_MS, RECOVERY_S, SILENT
from tollgate.capacity.trials import gather
from tollgate.criteria.grammar import CriterionError
from tollgate.plan.iterations import Iteration
from tollgate.plan.read import read_plan
from tollgate.samples.store import open_store
from tollgate.taurus.capacity import Capacity, free_port
from tollgate.taurus.shared import under_way

SERVES_MS = 15.0


def busy_ms(seed: int = 1, median_ms: float = 2.0):
    """Log-normal times of a service."""
    values = random.Random(seed)
    return lambda: median_ms * values.lognormvariate(0, 0.3)


def gathered(searched: Searched):
    with open_store(searched.folder / "kpi.jtl") as store:
        return gather(searched.folder, NAME, store)


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Searched:
    """A search of one server of SERVES_MS, some 64 a second at most."""
    folder = tmp_path_factory.mktemp("found")
    service = queue(busy_ms(median_ms=SERVES_MS))
    return Searched(folder, service, record_of(120.0)).to_the_end()


def test_what_is_judged_from_the_folder_is_what_the_search_saw(found):
    searched = gathered(found)
    assert searched.trials == tuple(found.search.trials)
    assert searched.ceiling_trials == tuple(found.search.ceilings)
    assert searched.is_over
    assert not searched.problem


def test_the_capacity_of_a_queue_is_found(found):
    answer = gathered(found).result
    highest = 1000 / (SERVES_MS * np.exp(0.3**2 / 2))
    assert answer.holdout is not None
    assert 0.8 * highest < answer.low < answer.estimate < answer.high < 1.1 * highest


def test_each_arrival_is_sent_once_and_written_before_it_is_due(found):
    arrivals = read_arrivals(arrivals_path(found.folder, NAME))
    numbers = np.concatenate([it.first + np.arange(len(it)) for it in arrivals.values()])
    assert len(set(numbers.tolist())) == len(numbers)
    assert all(trial.sound for trial in gathered(found).trials)


def test_rows_of_arrivals_have_one_length(found):
    text = arrivals_path(found.folder, NAME).read_bytes()
    assert {len(line) for line in text.splitlines(keepends=True)} == {ROW}


def test_a_trial_that_overruns_the_service_is_cut_and_counts_as_failed(tmp_path):
    searched = Searched(tmp_path, queue(lambda: 200.0), record_of(bracket_s=10.0))
    while not searched.search.trials:
        searched.step()
    searched.listens.close()
    (cut,) = (it for it in read_record(tmp_path, NAME).trials if it.ask.purpose == "bracket")
    (trial,) = gathered(searched).trials
    assert cut.seconds < cut.ask.seconds
    assert trial.grew
    assert trial.sound
    assert not trial.keeps(searched.search.record.settings.limits)


def test_at_most_a_quarter_of_the_time_between_the_first_trial_and_the_last_is_not_measured(found):
    trials = [it for it in read_record(found.folder, NAME).trials if it.ask.purpose != "ceiling"]
    length_s = trials[-1].began_ms / 1000 + trials[-1].seconds - trials[0].began_ms / 1000
    # Trials of 3 s have as long a pause as those of 10 s, which a run has.
    long = [it.seconds * 10 / 3 for it in trials]
    pauses = length_s - sum(it.seconds for it in trials)
    assert pauses < 0.25 * (pauses + sum(long))


def test_a_service_that_is_slower_than_its_limit_at_one_a_second_is_below(tmp_path):
    searched = Searched(tmp_path, queue(lambda: 400.0, 50), record_of()).to_the_end()
    assert gathered(searched).result.status == "below"


def test_a_service_that_the_generator_cannot_fill_is_unsaturated(tmp_path):
    service = queue(lambda: 1.0, 500)
    searched = Searched(tmp_path, service, record_of(), sends=300.0).to_the_end()
    answer = gathered(searched)
    assert answer.result.status == "unsaturated"
    assert answer.ceiling < 300


def test_an_answer_close_to_the_ceiling_is_the_generators(tmp_path):
    service = queue(busy_ms(median_ms=3.6))  # some 265 a second
    searched = Searched(tmp_path, service, record_of(), sends=300.0).to_the_end()
    assert gathered(searched).result.status in ("generator", "unsaturated")


def test_a_service_that_hangs_ends_in_an_answer(tmp_path):
    def hanging(start_ms: float, _of: str) -> tuple[float, bool]:
        return start_ms + 1e6, True

    searched = Searched(tmp_path, hanging, record_of()).to_the_end()
    assert gathered(searched).result.status == "below"


def test_a_service_that_hangs_for_good_after_a_trial_ends_the_search_which_says_so(tmp_path):
    answer, hangs = queue(busy_ms()), []

    def asked(start_ms: float, of: str) -> tuple[float, bool]:
        if len(searched.search.trials) == 4:
            hangs.append(True)
        return (start_ms + 1e6, False) if hangs else answer(start_ms, of)

    searched = Searched(tmp_path, asked, record_of())
    searched.to_the_end()
    found = gathered(searched)
    assert f"{SILENT} trials" in found.problem
    assert not found.is_over
    assert len(found.trials) == 4 + SILENT


def crashing(above: float):
    """Refuses for 1.5 s once more than that have come within a second."""
    answer, recent, until = queue(busy_ms()), [], [0.0]

    def asked(start_ms: float, of: str) -> tuple[float, bool]:
        if start_ms < until[0]:
            return start_ms + 0.5, False
        recent[:] = [*(it for it in recent if it > start_ms - 1000), start_ms]
        if len(recent) > above:
            until[0] = start_ms + 1500
            recent.clear()
            return start_ms + 1, False
        return answer(start_ms, of)

    return asked


def test_a_service_that_crashes_above_a_rate_can_take_less_than_that(tmp_path):
    searched = Searched(tmp_path, crashing(120), record_of()).to_the_end()
    answer = gathered(searched).result
    assert answer.last_pass < 120
    assert answer.high is None or answer.high < 130


def test_a_service_that_does_not_come_back_ends_the_search_which_says_so(tmp_path):
    searched = Searched(tmp_path, queue(busy_ms(median_ms=8.0)), record_of())
    while len(searched.search.trials) < 2:
        searched.step()
    searched.listens.close()
    searched.to_the_end()
    answer = gathered(searched)
    assert f"{RECOVERY_S:g} s after a trial" in answer.problem
    assert not answer.is_over
    assert len(answer.trials) >= 2


def test_what_was_measured_before_a_search_is_killed_is_kept(tmp_path):
    searched = Searched(tmp_path, queue(busy_ms(median_ms=8.0)), record_of())
    while len(searched.search.trials) < 3:
        searched.step()
    for _ in range(20):  # into the fourth
        searched.step()
    answer = gathered(searched)
    searched.listens.close()
    assert answer.trials == tuple(searched.search.trials)
    assert not answer.is_over
    assert answer.result.status == "open"


def test_a_late_generator_makes_a_trial_unsound(tmp_path):
    searched = Searched(tmp_path, queue(lambda: 1.0, 50), record_of())
    while not searched.search.trials:
        searched.step()
    searched.load.gap_ms = 100.0  # it sends ten a second from now on
    while len(searched.search.trials) < 3:
        searched.step()
    searched.listens.close()
    assert not searched.search.trials[2].sound


def test_rows_are_written_no_sooner_than_they_must(tmp_path):
    searched = Searched(tmp_path, queue(lambda: 1.0, 50), record_of())
    for _ in range(100):
        searched.step()
        written = read_arrivals(arrivals_path(tmp_path, NAME))
        last_ms = max((it.due_ms[-1] for it in written.values()), default=0)
        assert last_ms <= 1000 * searched.now + AHEAD_MS
    searched.listens.close()


def test_both_files_of_a_search_are_sealed(found):
    names = {record_path(found.folder, NAME).name, arrivals_path(found.folder, NAME).name}
    assert sealed(found.folder, NAME).keys() == names


@pytest.mark.parametrize(
    ("text", "threshold", "share"),
    [("p95>250ms", 250.0, 0.05), ("p50>1s", 1000.0, 0.5), ("fail>0.1%", None, 0.001)],
)
def test_limits_are_criteria_of_taurus(text, threshold, share):
    limit = limit_of(text)
    assert (limit.threshold, limit.share) == (threshold, pytest.approx(share))


@pytest.mark.parametrize("text", ["avg-rt>250ms", "p95<250ms", "p95 of sum>1s", "fail>3", "hits>1"])
def test_other_criteria_are_no_limits(text):
    with pytest.raises(CriterionError):
        limit_of(text)


def prepared(tmp_path, criteria=(), script="plans/capacity.jmx", **settings):
    """The service behind its `prepare`, and the configuration."""
    service = Capacity()
    service.settings = BetterDict.from_dict(settings)
    config = {
        "execution": [{"scenario": "fork"}],
        "scenarios": {"fork": {"script": str(ROOT / script)}, "cluster": {}},
        "modules": {"targets": {}},
        "reporting": [{"module": "passfail", "criteria": list(criteria)}],
    }
    service.engine = SimpleNamespace(
        config=BetterDict.from_dict(config), artifacts_dir=str(tmp_path)
    )
    try:
        service.prepare()
    finally:
        service.post_process()
    return service


GOOD = {"of": "sum", "limits": ["p95>250ms"], "budget": "5m"}


def test_the_plan_gets_its_file_of_arrivals(tmp_path):
    service = prepared(tmp_path, **GOOD)
    properties = service.engine.config["scenarios"]["fork"]["properties"]
    assert properties["arrivals"] == str(arrivals_path(tmp_path, "fork"))
    assert properties["origin"] == 0
    assert read_record(tmp_path, "fork").settings.budget_s == 300


def test_no_process_starts_while_the_run_may_still_be_refused(tmp_path):
    assert prepared(tmp_path, **GOOD).idle is None


def test_a_kind_without_a_budget_searches_for_nothing(tmp_path):
    assert not prepared(tmp_path).records
    assert not list(tmp_path.iterdir())


def test_no_server_is_left_behind():
    service = Capacity()
    service.parameters = BetterDict()
    service.idle_port = free_port()
    service.startup()
    idle = service.idle
    with socket.create_connection(("127.0.0.1", service.idle_port)):
        assert idle.poll() is None
    service.post_process()
    assert idle.poll() is not None


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        ({"of": ""}, "modules.capacity.of"),
        ({"of": ["sum", "serch"]}, "did you mean 'search'"),
        ({"limits": []}, "no limits"),
        ({"limits": ["fail>0%"]}, "fail"),
        ({"limits": ["avg-rt>1s"]}, "avg-rt"),
        ({"budget": "soon"}, "modules.capacity.budget"),
        ({"seed": 3}, "seed"),
    ],
)
def test_settings_that_mean_nothing_are_refused(tmp_path, wrong, names):
    with pytest.raises(TaurusConfigError, match=names):
        prepared(tmp_path, **{**GOOD, **wrong})


@pytest.mark.parametrize("name", ["Größe", "sum, twice", "s" * 91])
def test_a_name_that_no_row_of_arrivals_holds_is_refused(tmp_path, name):
    plan = tmp_path / "capacity.jmx"
    plan.write_text((ROOT / "plans/capacity.jmx").read_text().replace('"sum"', f'"{name}"'))
    with pytest.raises(TaurusConfigError, match="at most 90 letters of ASCII"):
        prepared(tmp_path, script=plan, **GOOD | {"of": name})


def test_criteria_on_an_execution_that_mode_leaves_out_are_left_out(tmp_path):
    criteria = ["capacity of fork<1/s", "capacity of cluster<1/s", "capacity of nobody<1/s"]
    service = prepared(tmp_path, criteria, **GOOD)
    kept = service.engine.config["reporting"][0]["criteria"]
    assert kept == ["capacity of fork<1/s", "capacity of nobody<1/s"]


def test_a_plan_that_reads_no_arrivals_is_refused(tmp_path):
    with pytest.raises(TaurusConfigError, match="arrivals"):
        prepared(tmp_path, script="plans/check.jmx", **GOOD)


OPEN = "rate(${__P(rate,5)}/s) random_arrivals(10 s)"


@pytest.fixture
def own_plan(tmp_path):
    """A plan of a user's own, and a run's folder."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "run").mkdir()
    path = tmp_path / "theirs" / "shop.jmx"
    path.write_text(jmx.plan(jmx.open_group(jmx.sampler("home"), schedule=OPEN, name="visit")))
    return path, tmp_path / "run"


def test_a_plan_that_reads_a_rate_is_refused_with_the_name_of_its_property(own_plan):
    plan, run = own_plan
    with pytest.raises(TaurusConfigError, match=r"modules\.capacity\.rate .*'rate'"):
        prepared(run, script=plan, **GOOD)


def test_a_plan_that_reads_a_rate_runs_as_a_copy_beside_whose_original_its_files_lie(own_plan):
    plan, run = own_plan
    service = prepared(run, script=plan, rate="rate", **GOOD)
    scenario = service.engine.config["scenarios"]["fork"]
    copy = Path(scenario["script"])
    assert (copy.name, copy.parent.parent) == (plan.name, run)
    assert under_way(service.engine).executions["fork"].original == plan
    record = read_record(run, "fork")
    assert (record.of, record.passes) == (("visit",), True)
    (group,) = read_plan(copy, {}).groups
    assert {it.hidden_by for it in group.samplers if it.hidden_by} == {"visit", "nothing"}


def test_a_property_that_the_plan_does_not_read_is_refused(own_plan):
    plan, run = own_plan
    with pytest.raises(TaurusConfigError, match="'speed'"):
        prepared(run, script=plan, rate="speed", **GOOD)


def test_a_plan_of_a_file_of_arrivals_runs_as_it_is_whatever_the_rate(tmp_path):
    service = prepared(tmp_path, rate="rate", **GOOD)
    assert service.engine.config["scenarios"]["fork"]["script"] == str(ROOT / "plans/capacity.jmx")
    assert read_record(tmp_path, "fork").of == ("sum",)


@pytest.mark.parametrize(("pause_s", "is_cut"), [(0.0, True), (3.0, False)])
def test_pauses_of_a_pass_are_no_waiting(tmp_path, pause_s, is_cut):
    of = Iteration("visit", 2, pause_s, 20.0)
    searched = Searched(tmp_path, queue(lambda: 3000.0, 500), record_of(bracket_s=10.0), of)
    while not searched.search.trials:
        searched.step()
    searched.listens.close()
    (first,) = (it for it in read_record(tmp_path, NAME).trials if it.ask.purpose == "bracket")
    assert (first.seconds < first.ask.seconds) == is_cut


def test_executions_of_any_name_have_files_of_their_own(tmp_path):
    names = ["fork", "a/b", "x" * 300, "日本語"]
    paths = [record_path(tmp_path, name) for name in names]
    assert len(set(paths)) == len(names)
    for path in paths:
        assert path.parent == tmp_path
        path.touch()
