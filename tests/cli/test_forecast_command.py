"""`tollgate forecast FILE`."""

import sys

import pytest

from support.forecasts import csv_text
from tollgate.base.paths import ROOT
from tollgate.cli import cli


@pytest.fixture
def forecast(monkeypatch, capsys):
    """Runs the command in this process: (exit code, standard output, standard error)."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tollgate", "forecast", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return caught.value.code, *capsys.readouterr()

    return run


def test_a_good_forecast_is_shown_with_its_steps_its_requests_and_its_length(forecast):
    code, out, err = forecast(ROOT / "data" / "forecast.csv")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 1 + 24 + 3
    assert lines[21].split()[:5] == ["20:00", "72000", "75600", "20", "72,000"]
    assert lines[-2] == "each step is 1 h 0 min long"
    assert lines[-1].endswith("requests at 1.4 to 20 a second in 24 h 0 min")


def test_the_load_of_a_kind_is_shown_by_its_factor_length_and_scale(forecast):
    words = ("--factor", "1.5", "--length", "1/3", "--scale", "1440")
    code, out, _ = forecast(ROOT / "data" / "forecast.csv", *words)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:9]] == [
        f"{hour}:00" for hour in range(14, 22)
    ]
    assert "each step is 1 h 0 min long, compressed to 2.5 s" in out
    assert "at 19.8 to 30 a second in 20 s" in out


def test_a_column_that_is_no_target_of_the_plan_exits_1_and_names_it(forecast, tmp_path):
    file = tmp_path / "forecast.csv"
    file.write_text(csv_text(header="hour,tps,serach,pi"))
    code, out, err = forecast(file)
    assert (code, out) == (1, "")
    assert "serach" in err
    assert "search" in err.replace("serach", "")


def test_a_bad_forecast_exits_1_with_a_line_for_each_error(forecast, tmp_path):
    file = tmp_path / "forecast.csv"
    file.write_text(csv_text(["0,x,75,25", "12,1,75,20"]))
    code, out, err = forecast(file)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        f"tollgate: {file}:2: tps = 'x' is not a number: write digits with a decimal point, such "
        "as 7.5",
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
def test_what_is_no_load_exits_1_and_says_what_is_one(forecast, words, told):
    code, out, err = forecast(ROOT / "data" / "forecast.csv", *words)
    assert (code, out) == (1, "")
    assert told in err
    assert err.count("\n") == 1
