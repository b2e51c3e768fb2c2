"""`tollgate forecast FILE`."""

import pytest

from support import jmx_text as jmx
from support.forecasts import csv_text
from tollgate.base import paths
from tollgate.base.paths import SUITE

OURS = SUITE / "data" / "forecast.csv"


def test_a_good_forecast_is_shown_with_its_steps_its_requests_and_its_length(tollgate):
    code, out, err = tollgate("forecast", OURS)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 1 + 24 + 3
    assert lines[21].split()[:5] == ["20:00", "72000", "75600", "20", "72,000"]
    assert lines[-2] == "each step is 1 h 0 min long"
    assert lines[-1].endswith("requests at 1.4 to 20 a second in 24 h 0 min")


def test_the_load_of_a_kind_is_shown_by_its_factor_length_and_scale(tollgate):
    words = ("--factor", "1.5", "--length", "1/3", "--scale", "1440")
    code, out, _ = tollgate("forecast", OURS, *words)
    assert code == 0
    hours = [line.split()[0] for line in out.splitlines()[1:9]]
    assert hours == [f"{hour}:00" for hour in range(14, 22)]
    assert "each step is 1 h 0 min long, compressed to 2.5 s" in out
    assert "at 19.8 to 30 a second in 20 s" in out


def test_a_column_that_is_no_target_of_the_plan_exits_1_and_names_it(refusal, tmp_path):
    file = tmp_path / "forecast.csv"
    file.write_text(csv_text(header="hour,tps,serach,pi"))
    err = refusal("forecast", file)
    assert "serach" in err
    assert "search" in err.replace("serach", "")


def test_the_plan_of_another_suite_knows_its_own_columns(tollgate, refusal, tmp_path, monkeypatch):
    (tmp_path / "shop.jmx").write_text(jmx.plan(jmx.group(jmx.sampler("home"))))
    file = tmp_path / "forecast.csv"
    file.write_text(csv_text(["0,1,100", "12,2,100"], header="hour,tps,home"))
    run_file = tmp_path / "taurus.yml"
    monkeypatch.setattr(paths, "SUITE", tmp_path)
    assert f"{run_file} has no plan for a kind `stress`" in refusal("forecast", file)
    code, out, _ = tollgate("forecast", file, "--plan", tmp_path / "shop.jmx")
    assert (code, "home" in out) == (0, True)
    run_file.write_text("cli-aliases: {stress: {scenarios: {shop: {script: shop.jmx}}}}")
    assert tollgate("forecast", file)[:2] == (0, out)


def test_the_labels_of_the_only_service_share_a_total_by_their_weights(
    tollgate, tmp_path, monkeypatch
):
    requests = "[{label: a, url: /a, weight: 3}, {label: b, url: /b}]"
    run_file = f"scenarios: {{shop: {{url: http://h, requests: {requests}}}}}"
    (tmp_path / "taurus.yml").write_text(run_file)
    file = tmp_path / "forecast.csv"
    file.write_text(csv_text(["0,4", "12,8"], header="hour,tps"))
    monkeypatch.setattr(paths, "SUITE", tmp_path)
    code, out, err = tollgate("forecast", file)
    assert (code, err) == (0, "")
    assert {"a", "b"} <= set(out.split())
    assert {"75", "25"} <= set(out.split())


def test_a_bad_forecast_exits_1_with_a_line_for_each_error(tollgate, tmp_path):
    file = tmp_path / "forecast.csv"
    file.write_text(csv_text(["0,x,75,25", "12,1,75,20"]))
    code, out, err = tollgate("forecast", file)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        f"tollgate: {file}:2: tps = 'x' is invalid: write a number of 0 or more with a decimal "
        "point, as 7.5",
        f"tollgate: {file}:3: search + pi adds up to 95 %, not 100 %: correct the shares of this "
        "row",
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--length", "half"), "'half' is not a number"),
        (("--factor", "1/0"), "'1/0' is not a number"),
        (("--scale", "0.1"), "of at least 1"),
        (("--length", "0.001"), "less than a step"),
    ],
)
def test_what_is_no_load_exits_1_and_says_what_is_one(refusal, words, told):
    assert told in refusal("forecast", OURS, *words)
