"""The folder of a run to its verdict."""

import json

import pytest

from support import own_run, run_folder
from support.run_folder import reasons
from tollgate.criteria import grammar
from tollgate.gather import evidence
from tollgate.gather.context import EvidenceError
from tollgate.plan import read
from tollgate.plan.jmx import PlanError
from tollgate.record import manifest


def test_a_sound_run_passes_by_response_times_of_the_measured_window(judged):
    verdict = judged()
    assert (verdict.verdict, verdict.exit_code, verdict.reasons) == ("PASS", 0, ())
    (execution,) = verdict.executions
    assert execution.warnings == ()
    assert execution.criteria[0].basis == "response time"
    assert 230 < execution.criteria[0].samples < 260


def test_judging_a_run_reads_its_plan_once_and_parses_each_criterion_once(judged, monkeypatch):
    calls = []

    def counted(original):
        def call(first, *others):
            calls.append(getattr(first, "name", first))
            return original(first, *others)

        return call

    monkeypatch.setattr(read, "read_tree", counted(read.read_tree))
    monkeypatch.setattr(grammar, "parse", counted(grammar.parse))
    judged()
    assert sorted(calls) == sorted([f"{run_folder.NAME}.jmx", *run_folder.HOLDS])


def test_criteria_of_the_run_and_of_the_execution_are_judged_both(judged):
    verdict = judged(*run_folder.BROKEN)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    verdict = judged(*run_folder.HOLDS, criteria=["p50 of nap>10ms"])
    assert [it.verdict for it in verdict.executions[0].criteria] == ["PASS", "PASS", "FAIL"]


def test_a_schedule_that_the_samples_tell_no_zero_of_is_no_proof(judged):
    recorded = run_folder.recorded().decode()
    verdict = judged(spoiled=own_run.without(recorded, "TESTSTART.MS").encode())
    assert verdict.verdict == "INVALID"
    assert "the JTL has no column TESTSTART.MS" in reasons(verdict)


def with_fields(folder, fields, **changes):
    """The verdict on a run whose record has these fields."""
    made = run_folder.make(folder, **changes)
    vars(made).update(fields)
    manifest.write(made, folder)
    return run_folder.verdict_of(folder)


def test_the_settings_of_the_run_are_those_that_it_is_judged_by(tmp_path):
    (execution,) = with_fields(tmp_path, {"settings": {"latency": "service"}}).executions
    assert execution.criteria[0].basis == "service time"


LENIENT = [
    *({"inconclusive_passes": "no"}, {"cut_short_counts": "false"}, {"latency": "sevice"}),
    *({"confidence": value} for value in ("0.95", 0, 2, None)),
    *({"missing_share": 5}, {"missing_share": -1}, {"forecast_tolerance": "x"}),
]


@pytest.mark.parametrize("settings", [{"patience": 1}, "strict", None, *LENIENT])
def test_settings_that_no_run_has_are_refused_in_one_line(tmp_path, settings):
    with pytest.raises(manifest.ManifestError, match=r"run\.json can't be read: settings: .+"):
        with_fields(tmp_path, {"settings": settings})


def workers(tmp_path, seconds, restarts=0, apps=("nap",)):
    """What was seen of these apps, the last of which is started again after 5 s."""
    lines = [
        {"time": 1795223300000 + second * 1000, "app": app, "worker": 0, "pid": 7, "rss": 4096}
        | {"status": "online", "restarts": restarts if second > 5 and app == apps[-1] else 0}
        for second in seconds
        for app in apps
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "workers.jsonl").write_text(text)


TARGET = {"targets": [{"name": "nap", "mode": "fork", "instances": 1}]}


def test_the_workers_of_the_target_are_part_of_the_evidence(judged, tmp_path):
    workers(tmp_path, range(14))
    assert judged(**TARGET).verdict == "PASS"
    workers(tmp_path, range(14), restarts=1)
    died = "(service) nap-alone: worker 0 (pid 7) died and was started again"
    assert died in reasons(judged(**TARGET))
    workers(tmp_path, range(4))
    assert "the workers of nap were not watched" in reasons(judged(**TARGET))
    (tmp_path / "workers.jsonl").unlink()
    assert "1 workers were asked for and none were seen" in reasons(judged(**TARGET))


def test_what_the_workers_needed_and_what_watching_cost_are_part_of_the_evidence(tmp_path):
    made = run_folder.make(tmp_path, targets=[{**TARGET["targets"][0], "memory_limit": 512.0}])
    made.watching = {"watcher_cpu_s": 0.5, "pm2_cpu_s": 0.7, "wall_s": 12.0}
    workers(tmp_path, range(14))
    found = evidence.gather(tmp_path, made)[0].executions[0].resources
    assert set(found.workers[0].rss) == {4096}
    assert found.memory_limit == found.workers[0].memory_limit == 512
    assert found.watching_cpu == pytest.approx(0.1)


def test_the_cpu_time_of_workers_is_read_where_a_criterion_asks_for_it(judged, tmp_path):
    workers(tmp_path, range(14))
    began_s, lines = 1795223300.0, []
    for second in range(-1, 30):
        lines.append({"time": began_s + second, "cpu": {"7": 0.1 * second, "8": 5.0 * second}})
    path = tmp_path / "workers-cpu.jsonl"
    path.write_text("".join(json.dumps(it) + "\n" for it in lines))
    criterion = "cpu-per-request of worker>1ms"
    result = judged(criterion, **TARGET).executions[0].criteria[0]
    assert (result.verdict, result.observed) == ("FAIL", pytest.approx(800 / result.samples))
    assert 230 < result.samples < 260  # of 8 s
    path.write_text("no line\n")
    broken = judged(criterion, **TARGET)
    said = "the CPU time of the workers is not known: workers-cpu.jsonl: line 1 is damaged"
    assert (broken.verdict, said in reasons(broken)) == ("INVALID", True)
    assert judged(**TARGET).verdict == "PASS"
    path.unlink()
    assert "no record of the workers' CPU time" in reasons(judged(criterion, **TARGET))


APPS = ["balancer", "pi-1", "pi-2"]
SEVERAL = [{"name": name, "mode": "fork", "instances": 1} for name in APPS]


def test_the_workers_of_all_of_several_targets_are_judged_and_named_by_their_app(judged, tmp_path):
    workers(tmp_path, range(14), apps=APPS)
    assert judged(targets=SEVERAL).verdict == "PASS"
    workers(tmp_path, range(14), restarts=1, apps=APPS)
    verdict = judged(targets=SEVERAL)
    assert verdict.verdict == "INVALID"
    [reason] = verdict.reasons
    assert "nap-alone: worker 0 of pi-2 (pid 7) died and was started again" in reason.text
    assert reason.text.endswith("s; 0 requests were lost")
    assert [it.worker for it in verdict.executions[0].workers] == [f"0 of {app}" for app in APPS]
    verdict = judged("restarts of worker>0", "rss of worker>1MB", targets=SEVERAL)
    restarts, rss = verdict.executions[0].criteria
    assert (verdict.verdict, restarts.verdict, rss.verdict) == ("FAIL", "FAIL", "PASS")
    assert restarts.line.startswith("restarts of worker 0 of pi-2 = 1 (limit 0, n=")
    workers(tmp_path, range(14), apps=["balancer", "pi-1"])
    said = "1 workers of pi-2 were asked for and none were seen"
    assert said in reasons(judged(targets=SEVERAL))


BROKEN_RUNS = {
    "JMeter exited with code 1": {"exit_code": 1},
    "JMeter exited with code -9": {"exit_code": -9},
    "JMeter was never started": {"began": None, "exit_code": None},
    "samples have no seal": {"began": None, "ended": None, "exit_code": None},
    "No such file": {"jtl": "kpi-7.jtl"},
    "of 600 scheduled requests of nap were not sent": {"properties": {"rate": "60"}},
    "measured 9 s of 80 s": {"measured": 80.0},
    "holds a header but no samples": {"spoiled": run_folder.recorded().partition(b"\n")[0] + b"\n"},
    "empty": {"spoiled": b""},
}


@pytest.mark.parametrize("reason", BROKEN_RUNS)
def test_a_run_that_went_wrong_is_invalid(judged, reason):
    verdict = judged(**BROKEN_RUNS[reason])
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 4)
    assert reason in reasons(verdict)


def test_an_interrupted_run_and_one_with_a_problem_are_invalid(tmp_path):
    problem = "the run ended with an error: no space left"
    verdict = with_fields(tmp_path, {"interrupted": True, "problem": problem})
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 2)
    assert "no space left" in reasons(verdict)


def cut_short(folder, interrupted_at, **changes):
    """The verdict on an interrupted run where that counts; its one execution ended at ...312."""
    fields = {"interrupted": True, "interrupted_at": interrupted_at}
    return with_fields(folder, fields | {"settings": {"cut_short_counts": True}}, **changes)


def test_what_had_ended_too_early_by_itself_was_not_cut_short_by_a_later_interruption(tmp_path):
    verdict = cut_short(tmp_path, 1795223340.0, measured=80.0)
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 2)
    assert "(generator) nap-alone: measured 9 s of 80 s" in reasons(verdict)
    assert verdict.executions[0].warnings == ()
    crashed = cut_short(tmp_path, 1795223340.0, exit_code=1)
    assert "JMeter exited with code 1" in reasons(crashed)


@pytest.mark.parametrize("interrupted_at", [None, 1795223312.0])
def test_what_still_ran_when_it_was_interrupted_was_cut_short(tmp_path, interrupted_at):
    verdict = cut_short(tmp_path, interrupted_at, measured=80.0)
    assert "cut short after" in verdict.executions[0].warnings[0]
    assert "measured 9 s of" not in reasons(verdict)


def test_a_label_that_the_plan_does_not_have_and_a_plan_that_is_gone_are_refused(judged, tmp_path):
    with pytest.raises(EvidenceError, match="did you mean 'nap'"):
        judged("p50 of napp>1s")
    run_folder.make(tmp_path)
    (tmp_path / "plan" / "timer-run.jmx").unlink()
    with pytest.raises(PlanError, match=r"timer-run\.jmx: cannot be read"):
        run_folder.verdict_of(tmp_path)
