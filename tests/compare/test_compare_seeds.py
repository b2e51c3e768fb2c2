"""The seeds that a comparison draws, and how long it waits for what is still under way."""

import re
import sys

import pytest

from support import PLANS, ROOT, environment, run
from tollgate.compare.settings import (
    TIMEOUTS_MS,
    LagError,
    drawn_seeds,
    lag_s,
    repeat_command,
    seeds_of,
)

PLAN = PLANS / "compare.jmx"


def test_all_random_numbers_of_the_plan_are_seeded_by_the_run():
    text = PLAN.read_text()
    assert seeds_of(text) == ["coin_seed"]
    assert len(re.findall(r"[sS]eed\">", text)) == 1


def test_seeds_are_drawn_anew_and_apart_but_for_those_that_are_set(tmp_path):
    plan = tmp_path / "plan.jmx"
    plan.write_text("${__P(coin_seed,3)} ${__P(sum_seed,4)} ${__P(search_seed,5)}")
    seeds = [drawn_seeds(plan, {"sum_seed": 41}) for _ in range(20)]
    assert all(set(each) == {"coin_seed", "search_seed"} for each in seeds)
    numbers = [number for each in seeds for number in each.values()]
    assert len(set(numbers)) == len(numbers)
    assert all(0 < number < 2**31 for number in numbers)


def test_the_same_run_again_is_a_command_s_options():
    assert repeat_command({"coin_seed": 3, "sum_seed": 4}) == (
        "-o modules.jmeter.properties.coin_seed=3 -o modules.jmeter.properties.sum_seed=4"
    )


def test_what_was_sent_before_a_look_has_ended_by_then():
    assert lag_s({}) == 8
    assert lag_s({"connect_timeout": "500", "response_timeout": 1500}) == 3


def test_the_usual_timeouts_are_those_of_the_plan():
    found = dict(re.findall(r"__P\((connect_timeout|response_timeout),(\d+)\)", PLAN.read_text()))
    assert {name: int(value) for name, value in found.items()} == TIMEOUTS_MS


@pytest.mark.parametrize("value", ["0", "", "5s", "-1", "nan"])
def test_a_timeout_must_come(value):
    with pytest.raises(LagError, match=f"connect_timeout is '{value}': write whole"):
        lag_s({"connect_timeout": value})


def test_a_plan_is_utf_8_whatever_the_locale_says(tmp_path):
    plan = tmp_path / "plan.jmx"
    plan.write_text("<plan name='Größe'>${__P(sum_seed,0)}</plan>", encoding="utf-8")
    command = (
        "import sys; from tollgate.compare.settings import drawn_seeds; "
        "print(*drawn_seeds(sys.argv[1], {}))"
    )
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = run(
        *(sys.executable, "-c", command, plan),
        env=environment(PYTHONPATH=str(ROOT / "scripts"), **ascii_only),
    )
    assert (done.stdout, done.stderr) == ("sum_seed\n", "")
