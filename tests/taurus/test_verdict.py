"""What the verdict refuses before any load, and notes in run.json when it is over."""

import hashlib
from types import SimpleNamespace

import pytest
from bzt import ManualShutdown, TaurusConfigError
from bzt.modules.jmeter import JMeterExecutor
from bzt.utils import BetterDict

from support import compare_folder, run_folder
from tollgate.base.attempts import VARIABLE
from tollgate.base.records import parse
from tollgate.base.settings import SettingError
from tollgate.compare.settings import read_setup
from tollgate.judge.facts import JudgeSettings
from tollgate.record import manifest
from tollgate.record.redaction import Redaction
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.refusals import checked_settings, require_jmeter_plan
from tollgate.taurus.shared import under_way
from tollgate.taurus.verdict import Verdict
from tollgate.workers.background_cpu import BackgroundCpu

#: When a run was interrupted, in seconds since the epoch.
NOW = 1795223340.5


def sealed(folder, made, interrupted_at=None, known=lambda _run, _executor: None):
    """run.json after the load has ended. known: notes what other modules know of the run."""
    (planned,) = made.executions
    executor = InstalledJMeter()  # nobody has seen it end
    executor.start_time = planned.began
    reporter = Verdict()
    reporter.manifest = made
    reporter.engine = SimpleNamespace(
        artifacts_dir=str(folder),
        provisioning=SimpleNamespace(executors=[executor]),
        stopping_reason=ManualShutdown(),
    )
    under_way(reporter.engine).interrupted_at = interrupted_at
    known(under_way(reporter.engine), executor)
    reporter._seal()
    return manifest.read(folder)


@pytest.mark.parametrize("interrupted_at", [None, NOW])
def test_run_json_says_when_the_run_was_interrupted(tmp_path, interrupted_at):
    found = sealed(tmp_path, run_folder.make(tmp_path), interrupted_at)
    assert (found.interrupted, found.interrupted_at) == (True, interrupted_at)
    # An execution that nobody saw end still ran then.
    assert interrupted_at is None or found.executions[0].ended == interrupted_at


APP = {"name": "nap", "mode": "fork", "instances": 1, "memory_limit": None}
TAKEN = BackgroundCpu(share=0.25, seconds=3, disturbed_s=1)


@pytest.mark.parametrize(
    ("targets", "found"), [pytest.param([APP], TAKEN, id="app"), pytest.param([], None, id="URL")]
)
def test_what_others_took_is_known_of_the_seconds_behind_the_warm_up(tmp_path, targets, found):
    made = run_folder.make(tmp_path)
    (planned,) = made.executions
    planned.targets, planned.warmup = targets, 7.0

    def recorded(run, _executor):
        moments = {(planned.began + 7.0, NOW): TAKEN}
        run.background = SimpleNamespace(used=lambda *of: moments[of])

    assert sealed(tmp_path, made, NOW, recorded).executions[0].background_cpu == found


def test_run_json_says_when_stop_after_had_jmeter_end(tmp_path):
    def ended(_run, executor):
        executor.stop_requested_at, executor.forced = 1795223309.25, True
        executor.load_ended_at = 1795223309.5

    of_ended = (1795223309.25, True, 1795223309.5)
    for how, expected in ((ended, of_ended), (lambda *_: None, (None, False, None))):
        (found,) = sealed(tmp_path, run_folder.make(tmp_path), known=how).executions
        recorded = found.stop_requested_at, found.ended_by_force, found.load_ended_at
        assert recorded == expected


@pytest.mark.parametrize("name", ["stop_requested_at", "load_ended_at", "forced", "begins_at"])
def test_what_a_run_is_to_record_of_its_end_is_no_default(tmp_path, name):
    with pytest.raises(AttributeError, match=name):
        sealed(tmp_path, run_folder.make(tmp_path), known=lambda _, jmeter: delattr(jmeter, name))


def test_an_executor_that_does_not_tell_how_its_load_ended_is_refused():
    executor = JMeterExecutor()
    executor.label, executor.original_jmx = "fork", "plans/check.jmx"
    with pytest.raises(TaurusConfigError, match="'fork' is run by JMeterExecutor"):
        require_jmeter_plan(executor)


def test_what_was_compared_is_sealed_with_the_samples(tmp_path):
    assert sealed(tmp_path, run_folder.make(tmp_path)).compare_sha256 is None
    found = sealed(tmp_path, compare_folder.make(tmp_path))
    compared = (tmp_path / "compare.json").read_bytes()
    assert found.compare_sha256 == hashlib.sha256(compared).hexdigest()


@pytest.mark.parametrize("value", [-0.01, 0.6, "2 %", None])
def test_a_tolerance_of_the_forecast_that_is_no_share_is_refused(value):
    wanted = ("check", {"forecast_tolerance": 0.05})
    assert checked_settings({"forecast-tolerance": 0.05}, {}) == wanted
    words = "write a number from 0 to 0.5"
    with pytest.raises(SettingError, match=f"forecast-tolerance is {value!r}: {words}"):
        checked_settings({"forecast-tolerance": value}, {})


@pytest.mark.parametrize("confidence", [None, 0.5, 0.9, 0.9999])
@pytest.mark.parametrize("attempts", [1, 2, 3, 10])
def test_runs_of_one_job_share_the_error_of_their_intervals(attempts, confidence):
    given = {} if confidence is None else {"confidence": confidence}
    _, found = checked_settings(given, {VARIABLE: str(attempts)})
    settings = parse(JudgeSettings, found)  # as `tollgate judge` reads them
    whole = confidence or JudgeSettings.confidence
    assert attempts * (1 - settings.confidence) == pytest.approx(1 - whole)
    assert checked_settings(given, {}) == checked_settings(given, {VARIABLE: ""})


@pytest.mark.parametrize("text", ["0", "-1", "11", "two", "1.5", "²"])
def test_a_wrong_number_of_attempts_is_refused(text):
    with pytest.raises(SettingError, match=f"{VARIABLE} is {text!r}: write how many runs"):
        checked_settings({}, {VARIABLE: text})
    with pytest.raises(SettingError, match=f"{VARIABLE} is {text!r}: write how many runs"):
        read_setup({"budget": "10m"}, {VARIABLE: text})


@pytest.mark.parametrize("value", ["yes", "maybe", None, 2])
def test_whether_a_run_cut_short_counts_is_true_or_false_and_nothing_between(value):
    assert checked_settings({"cut-short-counts": True}, {}) == ("check", {"cut_short_counts": True})
    with pytest.raises(SettingError, match=f"cut-short-counts is {value!r}: write true or false"):
        checked_settings({"cut-short-counts": value}, {})


@pytest.mark.parametrize("name", ["warmup", "measured"])
def test_verdict_refuses_a_property_that_is_no_number(monkeypatch, name):
    monkeypatch.setattr("tollgate.taurus.verdict.plan_copy.copy", lambda *_: "plan/check.jmx")
    made = Verdict()
    config, redaction = {"modules": {}}, Redaction()
    made.engine = SimpleNamespace(artifacts_dir="reports", config=config, redaction=redaction)
    executor = SimpleNamespace(
        label="fork",
        properties={name: "60s"},
        original_jmx="plans/check.jmx",
        kpi_jtl="kpi.jtl",
        execution=BetterDict(),
        get_scenario=BetterDict,
    )
    with pytest.raises(TaurusConfigError, match=f"execution 'fork': the property {name} is '60s'"):
        made._planned(executor)
