"""Real runs of the kinds that follow the forecast, compressed to seconds."""

import csv
import signal

import pytest
import yaml

import support
from e2e.bzt_run import Run, assert_on_the_page_of_the_job, judged_by

pytestmark = pytest.mark.long

#: What a busy machine sends in another step than it was due in, where steps last half a second.
TOLERANT = "modules.verdict.forecast-tolerance=0.5"
#: An hour lasts half a second, and a day 12 s.
DAY_OF_12_S = "7200"
#: The leak at a glance: every second request is a kitten of 1 MB, six in a second.
KITTENS = "hour,tps,sum,kittens\n" + "".join(f"{hour},12,50,50\n" for hour in range(24))
#: A third of that: far above what a young process grows by without it, far below the leak.
SLOPE = "rss-slope of worker>120MB/min"
KINDS = yaml.safe_load((support.ROOT / "taurus.yml").read_text())["cli-aliases"]


def criteria(kind, *texts):
    """These criteria instead of the kind's own."""
    return {"cli-aliases": {kind: {"~~reporting": judged_by(texts)["~reporting"]}}}


def with_many_kittens():
    """The forecast of data/ with a kitten in every second request."""
    rows = list(csv.DictReader((support.ROOT / "data" / "forecast.csv").open(newline="")))
    for row in rows:
        more = (50 - float(row["kittens"])) / 3
        row["kittens"] = "50"
        for name in ("calculate", "sum", "search"):
            row[name] = f"{float(row[name]) - more:.4f}"
    return "".join(f"{','.join(line)}\n" for line in (rows[0], *(row.values() for row in rows)))


@pytest.fixture(scope="module")
def stress(tmp_path_factory):
    """A day of stress in both modes, without a leak."""
    folder = tmp_path_factory.mktemp("stress")
    (folder / "forecast.csv").write_text(with_many_kittens())
    [own] = [it["criteria"] for it in KINDS["stress"]["~~reporting"] if "criteria" in it]
    settings = (TOLERANT, f"modules.load.forecast={folder / 'forecast.csv'}")
    given = {"SCALE": DAY_OF_12_S, "KITTENS_LEAK": "off", "alias": "stress"}
    return Run(folder, *settings, config=criteria("stress", *own, SLOPE), **given).end()


def test_a_compressed_stress_run_says_how_long_it_takes_before_it_starts(stress):
    before_load = stress.output.partition("Starting...")[0]
    forecast = stress.folder.parent / "forecast.csv"
    assert f"Forecast {forecast}: 24 steps from 00:00 on" in before_load
    assert "in time compressed 7200 times" in before_load
    assert "fork, then cluster: 44 s in all; the load will end about" in before_load


def test_what_a_compressed_stress_run_sent_follows_the_forecast(stress):
    for execution in stress.verdict["executions"]:
        forecast = execution["forecast"]
        assert [step["outcome"] for step in forecast["steps"]] == ["held"] * 24
        asked = sum(step["forecast"] for step in forecast["steps"])
        sent = sum(step["sent"] for step in forecast["steps"])
        assert abs(sent - asked) <= 0.1 * asked
        assert sum(forecast["timeline"]["sent"]) == pytest.approx(sent, abs=2)
    assert "forecast" not in stress.reasons()


def test_a_forecast_is_judged_with_its_resource_criteria_and_without_a_leak_none_is_found(stress):
    for execution in stress.verdict["executions"]:
        judged = {it["criterion"]: it["verdict"] for it in execution["criteria"]}
        assert judged["restarts of worker>0"] == "PASS"
        assert "rss of worker>400MB" in judged
        assert execution["workers"], "nobody watched the workers"
        # Whether so short a run can rule a leak out is a matter of when a worker collects garbage.
        assert judged[SLOPE] in ("PASS", "INCONCLUSIVE"), stress.output


def test_a_run_is_judged_again_with_the_same_figures(stress):
    done = stress.judged_again()
    assert done.returncode == stress.code
    assert done.stdout.strip() in stress.output


def test_the_leak_of_the_kittens_is_found_with_worker_slope_and_time_left(tmp_path):
    (tmp_path / "forecast.csv").write_text(KITTENS)
    forecast = f"modules.load.forecast={tmp_path / 'forecast.csv'}"
    config = criteria("soak", SLOPE, "restarts of worker>0")
    env = {"SCALE": DAY_OF_12_S, "MODE": "fork", "KITTENS_LEAK": "on"}
    ended = Run(tmp_path, forecast, alias="soak", config=config, **env).end()
    judged = {it["criterion"]: it["verdict"] for it in ended.execution["criteria"]}
    assert judged[SLOPE] == "FAIL", ended.output
    assert ended.code != 0
    reason = next(line for line in ended.reasons().splitlines() if "rss-slope" in line)
    assert reason.startswith("FAIL fork: rss-slope of worker 0")
    assert all(words in reason for words in ("MB/min", "would be reached"))


def test_the_soak_of_the_ci_jobs_ends_in_a_verdict_on_the_page_of_the_job(tmp_path):
    ended = Run(tmp_path, TOLERANT, job="soak", SCALE="17280", MODE="fork").end()
    assert_on_the_page_of_the_job(ended, "soak", tmp_path)
    assert "Forecast data/forecast.csv: " in ended.output.partition("Starting...")[0]
    assert ended.execution["name"] == "fork"  # which MODE has chosen
    ended.assert_only_the_generator_is_to_blame()


def test_a_day_at_full_length_that_is_interrupted_leaves_a_verdict_on_what_was_measured(tmp_path):
    run = Run(tmp_path, alias="stress").until(" requests read")
    ended = run.signal(signal.SIGINT).end_cleanly()
    assert ended.outcome == (2, "INVALID")
    before_load = ended.output.partition("Starting...")[0]
    assert "24 steps from 00:00 on: 949,680 requests" in before_load
    assert "Only cluster: all modes would take too long for the default" in before_load
    steps = ended.execution["forecast"]["steps"]
    assert {step["outcome"] for step in steps} == {"not reached"}
    for name in ("junit.xml", "verdict.md", "kpi.jtl", "workers.jsonl"):
        assert (ended.folder / name).stat().st_size, name
    assert ended.judged_again().returncode == 2
