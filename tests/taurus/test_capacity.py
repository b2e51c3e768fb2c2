"""The service `capacity`: its settings, and its searches against queues of numbers."""

import random
import socket
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

import support
from support import jmx_text as jmx
from support.growing_load import queue
from support.searching import NAME, Searched, record_of
from tollgate.base.paths import SUITE
from tollgate.capacity.arrivals import ROW, read_arrivals
from tollgate.capacity.asked import limit_of
from tollgate.capacity.record import arrivals_path, read_record, record_path, sealed
from tollgate.capacity.running import AHEAD_MS, RECOVERY_S, SILENT
from tollgate.capacity.trials import gather
from tollgate.criteria.grammar import CriterionError
from tollgate.plan.iterations import Iteration
from tollgate.plan.read import read_plan
from tollgate.samples.store import open_store
from tollgate.taurus.capacity import Capacity
from tollgate.taurus.shared import under_way

SERVES_MS = 15.0


def busy_ms(median_ms=2.0):
    """Log-normal times of a service."""
    values = random.Random(1)
    return lambda: median_ms * values.lognormvariate(0, 0.3)


def gathered(searched):
    with open_store(searched.folder / "kpi.jtl") as store:
        return gather(searched.folder, NAME, store)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A search of one server of SERVES_MS, some 64 a second at most."""
    service = queue(busy_ms(SERVES_MS))
    return Searched(tmp_path_factory.mktemp("found"), service, record_of(120.0)).to_the_end()


@pytest.fixture
def begin(tmp_path):
    """Begins a search, goes on until so many trials were made, and leaves nothing listening."""
    made = []

    def begin(service, trials=0, settings=(), **load):
        made.append(Searched(tmp_path, service, record_of(**dict(settings)), **load))
        return go_on(made[0], trials)

    yield begin
    made[0].listens.close()


def go_on(searched, trials):
    while len(searched.search.trials) < trials:
        searched.step()
    return searched


def test_what_is_judged_from_the_folder_is_what_the_search_saw_of_a_queue(found):
    searched = gathered(found)
    assert searched.trials == tuple(found.search.trials)
    assert searched.ceiling_trials == tuple(found.search.ceilings)
    assert searched.is_over
    assert not searched.problem
    answer, highest = searched.result, 1000 / (SERVES_MS * np.exp(0.3**2 / 2))
    assert answer.holdout is not None
    assert 0.8 * highest < answer.low < answer.estimate < answer.high < 1.1 * highest


def test_each_arrival_is_sent_once_and_written_before_it_is_due_in_a_row_of_one_length(found):
    path = arrivals_path(found.folder, NAME)
    numbers = [it.first + np.arange(len(it)) for it in read_arrivals(path).values()]
    numbers = np.concatenate(numbers).tolist()
    assert len(set(numbers)) == len(numbers)
    assert all(trial.sound for trial in gathered(found).trials)
    assert {len(line) for line in path.read_bytes().splitlines(keepends=True)} == {ROW}
    assert sealed(found.folder, NAME).keys() == {record_path(found.folder, NAME).name, path.name}


def bracketed(searched):
    (trial,) = (
        it for it in read_record(searched.folder, NAME).trials if it.ask.purpose == "bracket"
    )
    return trial


def test_a_trial_that_overruns_the_service_is_cut_and_counts_as_failed(begin):
    searched = begin(queue(lambda: 200.0), 1, {"bracket_s": 10.0})
    cut = bracketed(searched)
    (trial,) = gathered(searched).trials
    assert cut.seconds < cut.ask.seconds
    assert trial.grew
    assert trial.sound
    assert not trial.keeps(searched.search.record.settings.limits)


@pytest.mark.parametrize(("pause_s", "is_cut"), [(0.0, True), (3.0, False)])
def test_pauses_of_a_pass_are_no_waiting(begin, pause_s, is_cut):
    of = Iteration("visit", 2, pause_s, 20.0)
    first = bracketed(begin(queue(lambda: 3000.0, 500), 1, {"bracket_s": 10.0}, of=of))
    assert (first.seconds < first.ask.seconds) == is_cut


def test_at_most_a_quarter_of_the_time_between_the_first_trial_and_the_last_is_not_measured(found):
    trials = [it for it in read_record(found.folder, NAME).trials if it.ask.purpose != "ceiling"]
    length_s = trials[-1].began_ms / 1000 + trials[-1].seconds - trials[0].began_ms / 1000
    measured_s = sum(it.seconds for it in trials)
    # Trials of 3 s have as long a pause as those of 10 s, which a run has.
    pauses_s = length_s - measured_s
    assert pauses_s < 0.25 * (pauses_s + measured_s * 10 / 3)


def hanging(start_ms, _of):
    return start_ms + 1e6, True


#: A service and how fast its generator is, in requests a second; the answers there may be.
ANSWERS = {
    "slower than its limit at one a second": (queue(lambda: 400.0, 50), 400.0, {"below"}),
    "hangs": (hanging, 400.0, {"below"}),
    "faster than the generator": (queue(lambda: 1.0, 500), 300.0, {"unsaturated"}),
    "265 a second, close to the ceiling": (
        *(queue(busy_ms(3.6)), 300.0),
        {"generator", "unsaturated"},
    ),
}


@pytest.mark.parametrize("service", ANSWERS)
def test_every_search_ends_in_an_answer(begin, service):
    serves, sends, answers = ANSWERS[service]
    answer = gathered(begin(serves, sends=sends).to_the_end())
    assert answer.result.status in answers
    assert answer.result.status != "unsaturated" or answer.ceiling < 300


def test_a_service_that_hangs_for_good_after_a_trial_ends_the_search_which_says_so(begin):
    answer, hangs = queue(busy_ms()), []

    def asked(start_ms, of):
        if len(searched.search.trials) == 4:
            hangs.append(True)
        return (start_ms + 1e6, False) if hangs else answer(start_ms, of)

    searched = begin(asked)
    found = gathered(searched.to_the_end())
    assert f"{SILENT} trials" in found.problem
    assert not found.is_over
    assert len(found.trials) == 4 + SILENT


def crashing(above):
    """Refuses for 1.5 s once more than that have come within a second."""
    answer, recent, until = queue(busy_ms()), [], [0.0]

    def asked(start_ms, of):
        if start_ms < until[0]:
            return start_ms + 0.5, False
        recent[:] = [*(it for it in recent if it > start_ms - 1000), start_ms]
        if len(recent) > above:
            until[0] = start_ms + 1500
            recent.clear()
            return start_ms + 1, False
        return answer(start_ms, of)

    return asked


def test_a_service_that_crashes_above_a_rate_can_take_less_than_that(begin):
    answer = gathered(begin(crashing(120)).to_the_end()).result
    assert answer.last_pass < 120
    assert answer.high is None or answer.high < 130


def test_a_service_that_does_not_come_back_ends_the_search_which_says_so(begin):
    searched = begin(queue(busy_ms(8.0)), 2)
    searched.listens.close()
    answer = gathered(searched.to_the_end())
    assert f"{RECOVERY_S:g} s after a trial" in answer.problem
    assert not answer.is_over
    assert len(answer.trials) >= 2


def test_what_was_measured_before_a_search_is_killed_is_kept(begin):
    searched = begin(queue(busy_ms(8.0)), 3)
    for _ in range(20):  # into the fourth
        searched.step()
    answer = gathered(searched)
    assert answer.trials == tuple(searched.search.trials)
    assert not answer.is_over
    assert answer.result.status == "open"


def test_a_late_generator_makes_a_trial_unsound(begin):
    searched = begin(queue(lambda: 1.0, 50), 1)
    searched.load.gap_ms = 100.0  # it sends ten a second from now on
    assert not go_on(searched, 3).search.trials[2].sound


def test_rows_are_written_no_sooner_than_they_must(begin, tmp_path):
    searched = begin(queue(lambda: 1.0, 50))
    for _ in range(100):
        searched.step()
        written = read_arrivals(arrivals_path(tmp_path, NAME))
        last_ms = max((it.due_ms[-1] for it in written.values()), default=0)
        assert last_ms <= 1000 * searched.now + AHEAD_MS


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
        "scenarios": {"fork": {"script": str(SUITE / script)}, "cluster": {}},
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


def scenario_of(service):
    return service.engine.config["scenarios"]["fork"]


GOOD = {"of": "sum", "limits": ["p95>250ms"], "budget": "5m"}


def test_the_plan_gets_its_file_of_arrivals_and_no_process_starts_yet(tmp_path):
    service = prepared(tmp_path, **GOOD)
    properties = scenario_of(service)["properties"]
    assert properties["arrivals"] == str(arrivals_path(tmp_path, "fork"))
    assert properties["origin"] == 0
    assert read_record(tmp_path, "fork").settings.budget_s == 300
    assert service.idle is None  # the run may still be refused


def test_a_kind_without_a_budget_searches_for_nothing(tmp_path):
    assert not prepared(tmp_path).records
    assert not list(tmp_path.iterdir())


def test_no_server_is_left_behind():
    service = Capacity()
    service.parameters = BetterDict()
    service.engine = SimpleNamespace(provisioning=SimpleNamespace(executors=[]))
    service.idle_port = support.free_port()
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
        ({"limits": []}, r"modules.capacity.limits is \[\]: name at least one"),
        ({"limits": ["fail>0%"]}, "fail"),
        ({"limits": ["avg-rt>1s"]}, "avg-rt"),
        ({"budget": "soon"}, "modules.capacity.budget"),
        ({"seed": 3}, "seed"),
        ({"script": "plans/check.jmx"}, "arrivals"),
    ],
)
def test_settings_that_mean_nothing_are_refused(tmp_path, wrong, names):
    with pytest.raises(TaurusConfigError, match=names):
        prepared(tmp_path, **{**GOOD, **wrong})


@pytest.mark.parametrize("name", ["Größe", "sum, twice", "s" * 91])
def test_a_name_that_no_row_of_arrivals_holds_is_refused(tmp_path, name):
    plan = tmp_path / "capacity.jmx"
    plan.write_text((SUITE / "plans/capacity.jmx").read_text().replace('"sum"', f'"{name}"'))
    with pytest.raises(TaurusConfigError, match="at most 90 letters of ASCII"):
        prepared(tmp_path, script=plan, **GOOD | {"of": name})


def test_criteria_on_an_execution_that_mode_leaves_out_are_left_out(tmp_path):
    criteria = ["capacity of fork<1/s", "capacity of cluster<1/s", "capacity of nobody<1/s"]
    service = prepared(tmp_path, criteria, **GOOD)
    kept = service.engine.config["reporting"][0]["criteria"]
    assert kept == ["capacity of fork<1/s", "capacity of nobody<1/s"]


@pytest.fixture
def own_plan(tmp_path):
    """A plan of a user's own, and a run's folder."""
    theirs, run = tmp_path / "theirs", tmp_path / "run"
    theirs.mkdir()
    run.mkdir()
    rate = "rate(${__P(rate,5)}/s) random_arrivals(10 s)"
    group = jmx.open_group(jmx.sampler("home"), schedule=rate, name="visit")
    (theirs / "shop.jmx").write_text(jmx.plan(group))
    return theirs / "shop.jmx", run


@pytest.mark.parametrize(
    ("settings", "said"),
    [({}, r"modules\.capacity\.rate to the property"), ({"rate": "speed"}, "'speed'")],
)
def test_a_plan_that_reads_a_rate_is_refused_until_its_property_is_named(own_plan, settings, said):
    plan, run = own_plan
    with pytest.raises(TaurusConfigError, match=said):
        prepared(run, script=plan, **settings, **GOOD)


def test_a_plan_that_reads_a_rate_runs_as_a_copy_beside_whose_original_its_files_lie(own_plan):
    plan, run = own_plan
    service = prepared(run, script=plan, rate="rate", **GOOD)
    copy = Path(scenario_of(service)["script"])
    assert (copy.name, copy.parent.parent) == (plan.name, run)
    assert under_way(service.engine).executions["fork"].original == plan
    record = read_record(run, "fork")
    assert (record.of, record.passes) == (("visit",), True)
    (group,) = read_plan(copy, {}).groups
    assert {it.hidden_by for it in group.samplers if it.hidden_by} == {"visit", "nothing"}


def test_a_plan_of_a_file_of_arrivals_runs_as_it_is_whatever_the_rate(tmp_path):
    service = prepared(tmp_path, rate="rate", **GOOD)
    assert scenario_of(service)["script"] == str(SUITE / "plans/capacity.jmx")
    assert read_record(tmp_path, "fork").of == ("sum",)


def test_executions_of_any_name_have_files_of_their_own(tmp_path):
    names = ["fork", "a/b", "x" * 300, "日本語"]
    paths = [record_path(tmp_path, name) for name in names]
    assert len(set(paths)) == len(names)
    for path in paths:
        assert path.parent == tmp_path
        path.touch()
