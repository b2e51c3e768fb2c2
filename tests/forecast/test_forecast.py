import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.forecasts import HEADER, csv_text
from support.golden import check_golden
from tollgate.base.csv_file import FieldError
from tollgate.base.paths import SUITE
from tollgate.forecast.fields import number
from tollgate.forecast.read import ForecastError, read_forecast

TARGETS = ["calculate", "sum", "search", "kittens", "pi"]


@pytest.fixture
def file(tmp_path):
    """Writes a forecast and returns its path."""

    def write(content):
        path = tmp_path / "forecast.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def hours(**changed):
    """The text of a day in which the rows of some hours, `h7`, are others, or gone if None."""
    rows = [changed.get(f"h{hour}", f"{hour},10,75,25") for hour in range(24)]
    return csv_text([row for row in rows if row is not None])


def test_the_forecast_that_comes_with_the_suite_can_be_read_and_fits_two_cores():
    forecast = read_forecast(SUITE / "data" / "forecast.csv", TARGETS)
    assert (len(forecast.steps), forecast.step_s) == (24, 3600)
    assert max(step.tps for step in forecast.steps) == 20
    # Milliseconds of CPU a request, roughly; `load` asks for one and a half times the peak.
    cost = {"calculate": 1, "sum": 5, "search": 2, "kittens": 40, "pi": 150}
    for step in forecast.steps:
        busy = 1.5 * step.tps * sum(cost[name] * share for name, share in step.shares.items())
        assert busy < 450


def test_names_rates_and_shares_are_those_of_the_file(file):
    forecast = read_forecast(file(csv_text(["0,3.5,75,25", "12,1e1,100,0"])))
    first, second = forecast.steps
    assert (first.name, first.tps, first.shares) == ("00:00", 3.5, {"search": 0.75, "pi": 0.25})
    assert (second.name, second.tps, second.shares) == ("12:00", 10.0, {"search": 1.0, "pi": 0.0})
    assert forecast.step_s == 43_200


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 24, 48, 96, 288, 1440])
def test_any_number_of_equal_steps_covers_a_day(file, rows):
    lines = [f"{number},1,75,25" for number in range(rows)]
    forecast = read_forecast(file(csv_text(lines, header="step,tps,search,pi")))
    assert (len(forecast.steps), forecast.step_s) == (rows, pytest.approx(86_400 / rows))


NAMES = {
    "half hours": ("time", [f"{i // 2:02d}:{i % 2 * 30:02d}" for i in range(48)]),
    "hours from six in the morning": ("hour", [str((6 + i) % 24) for i in range(24)]),
    "words": ("step", ["night", "morning", "noon", "evening"]),
    "numbers from one": ("step", [str(i + 1) for i in range(24)]),
    "one step": ("hour", ["0"]),
    "times in a column of steps": ("step", ["00:00", "08:00", "16:00"]),
}


@pytest.mark.parametrize("name", NAMES)
def test_steps_may_be_called_by_times_of_day_by_numbers_or_by_words(file, name):
    column, names = NAMES[name]
    text = csv_text([f"{each},1,75,25" for each in names], header=f"{column},tps,search,pi")
    assert len(read_forecast(file(text)).steps) == len(names)


SPREADSHEETS = {
    "BOM": "\ufeff" + csv_text(),
    "CRLF": csv_text(newline="\r\n"),
    "blank lines": csv_text() + "\n\n,,,\n",
    "no last newline": csv_text().rstrip("\n"),
    "blanks": csv_text().replace(",", " , "),
    "quotes": csv_text(header='"hour","tps","search","pi"'),
}


@pytest.mark.parametrize("name", SPREADSHEETS)
def test_what_spreadsheets_and_editors_do_to_a_file_is_understood(file, name):
    assert read_forecast(file(SPREADSHEETS[name])) == read_forecast(file(csv_text()))


def test_shares_that_were_rounded_are_scaled_and_a_target_without_a_column_has_none(file):
    [step] = read_forecast(file(csv_text(["0,1,66.7,33.4"])), TARGETS).steps
    assert set(step.shares) == {"search", "pi"}
    assert sum(step.shares.values()) == pytest.approx(1, abs=1e-12)


BAD = {
    "empty": "",
    "only blank lines": "\n\n",
    "header alone": csv_text([]),
    "no header": csv_text()[len(HEADER) + 1 :],
    "another first column": csv_text(header="hours,tps,search,pi"),
    "no tps": csv_text(header="hour,rate,search,pi"),
    "tps misspelt": csv_text(header="hour,TPS,search,pi"),
    "no target": "hour,tps\n0,1\n",
    "a column twice": csv_text(header="hour,tps,search,search"),
    "a column without a name": csv_text(header="hour,tps,,pi"),
    "a target misspelt": csv_text(header="hour,tps,serch,pi"),
    "a target of no plan": csv_text(header="hour,tps,checkout,pi"),
    "a second name": csv_text(header="hour,tps,time,pi"),
    "semicolons": csv_text().replace(",", ";"),
    "tabs": csv_text().replace(",", "\t"),
    "decimal comma": hours(h3="3,7,5,75,25"),
    "quoted decimal comma": hours(h3='3,"7,5",75,25'),
    "too few fields": hours(h3="3,10,75"),
    "words for a rate": hours(h3="3,many,75,25"),
    "no rate": hours(h3="3,,75,25"),
    "percent sign": hours(h3="3,10,75%,25%"),
    "digits of another script": hours(h3="3,\u0661,75,25"),
    "underscore": hours(h3="3,1_0,75,25"),
    "negative": hours(h3="3,-1,75,25"),
    "negative share": hours(h3="3,10,125,-25"),
    "nan": hours(h3="3,nan,75,25"),
    "infinite": hours(h3="3,1e999,75,25"),
    "shares too small": hours(h3="3,10,75,24.8"),
    "shares too large": hours(h3="3,10,75,25.2"),
    "fractions": hours(h3="3,10,0.75,0.25"),
    "all zero": csv_text([f"{hour},0,75,25" for hour in range(24)]),
    "a row is missing": hours(h7=None),
    "the last row is missing": hours(h23=None),
    "a row twice": hours(h7="6,10,75,25"),
    "out of order": hours(h7="8,10,75,25", h8="7,10,75,25"),
    "no time": hours(h3="three,10,75,25"),
    "25 o'clock": hours(h3="25,10,75,25"),
    "a name is missing": hours(h3=",10,75,25"),
    "numbers out of order": csv_text(["1,1,75,25", "3,1,75,25"], header="step,tps,search,pi"),
    "a word twice": csv_text(["day,1,75,25", "day,1,75,25"], header="step,tps,search,pi"),
    "too many rows": csv_text(["1,1,75,25"] * 1441),
    "an open quote": hours(h3='3,"10,75,25'),
    "not UTF-8": hours(h3="3,10,75,25 \u00e9").encode("latin-1"),
    "UTF-16": csv_text().encode("utf-16"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_forecast_is_refused_with_file_line_column_and_next_step(file, name):
    path = file(BAD[name])
    with pytest.raises(ForecastError) as caught:
        read_forecast(path, TARGETS)
    text = str(caught.value)
    assert all(line.startswith(str(path)) for line in text.splitlines())
    told = text.replace(str(path), "f.csv").replace("\n", " / ")
    check_golden("forecast/refusals.txt", name, told)


def test_every_error_has_a_line_and_more_than_ten_are_counted(file):
    def errors(text):
        with pytest.raises(ForecastError) as caught:
            read_forecast(file(text))
        return caught.value.errors

    places = [line.split(": ")[0] for line in errors(hours(h3="3,x,75,25", h9="9,-1,x,25"))]
    assert [place.rsplit(":", 1)[1] for place in places] == ["5", "11", "11"]
    many = errors(csv_text([f"{hour},x,75,25" for hour in range(24)]))
    assert (len(many), many[-1].startswith("and 14 more")) == (11, True)


@pytest.mark.parametrize("name", ["", "none.csv"])
def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path, name):
    with pytest.raises(ForecastError, match="can't be read"):
        read_forecast(tmp_path / name)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_content_whatever_ends_in_another_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "forecast.csv"
    for text in (content, csv_text().encode()[:40] + content):
        path.write_bytes(text)
        with contextlib.suppress(ForecastError):
            read_forecast(path, TARGETS)


def test_a_number_of_which_no_sum_is_one_is_refused():
    assert number("1e9") == 1e9
    with pytest.raises(FieldError, match="is too large: write 1000000000 at most"):
        number("1e308")
