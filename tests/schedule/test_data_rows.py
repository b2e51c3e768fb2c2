"""Rows of CSV files against what a plan takes of them."""

import math
import random

import pytest

from support import jmx_text as jmx
from tollgate.plan.read import read_plan, read_tree
from tollgate.plan.variables import running_expander_of
from tollgate.schedule.data_rows import short_files

HOME = jmx.sampler("home")


@pytest.fixture
def short(tmp_path):
    """(file, rows, need) of each file with too few rows."""

    def find(*children, until_s=math.inf, properties=(), **files):
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text)
        path = tmp_path / "own.jmx"
        path.write_text(jmx.plan(*children))
        properties = dict(properties)
        root = read_tree(path, properties)
        expander = running_expander_of(root, properties)
        found = short_files(read_plan(path, properties), root, tmp_path, expander, until_s)
        return [(it.feed.file.name, it.rows, it.need) for it in found]

    return find


def feed(file="ten", recycle="false", stop="false", share="shareMode.all", **more):
    props = {"filename": f"{file}.csv", "recycle": recycle, "stopThread": stop, "shareMode": share}
    return jmx.element("CSVDataSet", "feed", **props | more)


def rows(number, header="user\n"):
    return header + "".join(f"u{it}\n" for it in range(number))


#: Each takes ten rows: five a second for 2 s, one of them twice; loops of threads.
OPEN = {"schedule": "rate(5/s) random_arrivals(2 s)"}
TIMER = jmx.timer(throughput=5, duration=2)
TAKING_TEN = {
    "an open model": lambda *inside, **_: jmx.open_group(HOME, *inside, **OPEN),
    "loops": lambda *inside, **more: jmx.group(
        HOME, *inside, threads=2, loops=5, duration=None, **more
    ),
    "a timer": lambda *inside, **more: jmx.group(
        jmx.sampler("home", TIMER), *inside, duration=2, **more
    ),
}


@pytest.mark.parametrize("group", TAKING_TEN)
def test_a_file_is_refused_from_one_row_too_few_on(short, group):
    users = TAKING_TEN[group]
    assert short(users(feed()), ten=rows(9)) == [("ten.csv", 9, 10)]
    assert short(users(feed()), ten=rows(10)) == []
    assert short(feed(), users(), ten=rows(9)) == [("ten.csv", 9, 10)]
    assert short(users(feed(recycle="true")), ten=rows(1)) == []
    assert short(users(feed(variableNames="user")), ten=rows(9)) == []  # its header is a row
    blank = feed(variableNames="user", ignoreFirstLine="true")
    assert short(users(blank), ten=rows(9)) == [("ten.csv", 9, 10)]


def test_two_groups_share_a_file_or_each_has_its_own(short):
    groups = [TAKING_TEN["loops"](), TAKING_TEN["an open model"]()]
    assert short(feed(), *groups, ten=rows(19)) == [("ten.csv", 19, 20)]
    assert short(feed(share="shareMode.group"), *groups, ten=rows(10)) == []
    both = [("ten.csv", 9, 10)] * 2
    assert short(feed(share="shareMode.group"), *groups, ten=rows(9)) == both
    assert short(feed(share="shareMode.thread"), *groups, ten=rows(4)) == [("ten.csv", 4, 5)]
    assert short(feed(share="shareMode.thread"), *groups, ten=rows(5)) == []
    own = [jmx.open_group(HOME, feed(), name=name, **OPEN) for name in "ab"]
    assert short(*own, ten=rows(19)) == [("ten.csv", 19, 20)]


NOT_KNOWN = {
    "a closed loop for a time": jmx.group(HOME, feed(), threads=2, duration=25),
    "loops that end with their data": jmx.group(HOME, feed(stop="true"), loops=50, duration=None),
    "loops that a script may end": jmx.group(
        jmx.script("s", "ctx.getThread().stop()"), feed(), loops=50, duration=None
    ),
    "a feed on a condition": jmx.group(
        HOME, jmx.element("IfController", "c", [feed()]), loops=50, duration=None
    ),
    "a plan that knows of the end": jmx.group(
        jmx.element("IfController", "c", IfController__condition='"${user}" != "<EOF>"'),
        *(feed(), HOME),
        loops=50,
        duration=None,
    ),
    "a file that is not there": jmx.open_group(HOME, feed("absent")),
    "a file that a setUp group may write": "".join(
        [
            jmx.group(jmx.script("s", ""), kind="SetupThreadGroup", loops=1, duration=None),
            jmx.open_group(HOME, feed()),
        ]
    ),
}


@pytest.mark.parametrize("what", NOT_KNOWN)
def test_where_what_is_taken_is_not_known_nothing_is_refused(short, what):
    assert short(NOT_KNOWN[what], ten=rows(1)) == []


def test_a_schedule_that_ends_its_threads_with_its_data_can_not_be_kept(short):
    group = jmx.open_group(HOME, feed(stop="true"), **OPEN)
    assert short(group, ten=rows(9)) == [("ten.csv", 9, 10)]


def test_a_load_that_may_end_early_takes_what_it_takes_until_then(short):
    seed = random.SystemRandom().randrange(10**9)
    draw = random.Random(seed)
    for _ in range(20):
        rate, length, until = draw.randrange(1, 20), draw.randrange(5, 20), draw.randrange(1, 25)
        need = rate * min(length, until)
        schedule = f"rate({rate}/s) even_arrivals({length} s)"
        group = jmx.open_group(HOME, feed(), schedule=schedule)
        assert short(group, until_s=until, ten=rows(need)) == [], f"seed {seed}"
        few = short(group, until_s=until, ten=rows(need - 1))
        assert few == [("ten.csv", need - 1, need)], f"seed {seed}"
