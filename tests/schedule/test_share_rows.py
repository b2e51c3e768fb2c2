"""Rows of data files among engines."""

from pathlib import Path

import pytest

from support import ROOT
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import expander_of
from tollgate.schedule.share import Share, ShareError
from tollgate.schedule.share_rows import COPY, SPLIT, Feed, feeds_of, records_of, share_of_rows

TEXT = "n,sum\n" + "".join(f"{n},{n * n}\n" for n in range(10))


def feed(is_headed=True, is_quoted=True):
    return Feed("numbers", Path("sum.csv"), "sum_data", is_headed, is_quoted, "UTF-8")


def engines(of, how, text=TEXT, **kind):
    made = (share_of_rows(feed(**kind), text, Share(k, of), how) for k in range(1, of + 1))
    return [each.splitlines() for each in made]


@pytest.mark.parametrize("of", [1, 2, 3, 10])
def test_split_gives_row_i_to_engine_i_mod_n_and_none_to_two(of):
    files = engines(of, SPLIT)
    assert {file[0] for file in files} == {"n,sum"}
    for number, file in enumerate(files):
        assert [int(row.split(",")[0]) for row in file[1:]] == list(range(number, 10, of))


def test_too_few_rows_to_split_are_refused():
    with pytest.raises(ShareError, match="has 10 rows, too few to be split among 11 engines"):
        engines(11, SPLIT)


@pytest.mark.parametrize("of", [1, 2, 3, 10])
def test_copies_have_all_rows_in_their_order_from_another_one_on(of):
    files = engines(of, COPY)
    assert len({file[1] for file in files}) == of
    for file in files:
        first = int(file[1].split(",")[0])
        order = [int(row.split(",")[0]) for row in file[1:]]
        assert order == [(first + step) % 10 for step in range(10)]


def test_without_a_head_the_first_row_is_one_like_the_others():
    assert engines(2, SPLIT, "a\nb\nc", is_headed=False) == [["a", "c"], ["b"]]


def test_rows_are_what_jmeter_reads():
    assert records_of('a,"x\ny"\r\nb', is_quoted=True) == ['a,"x\ny"\r\n', "b\n"]
    assert records_of('a,"x\ny"\n', is_quoted=False) == ['a,"x\n', 'y"\n']
    assert records_of("a\x0bb\u2028c\rd", is_quoted=True) == ["a\x0bb\u2028c\r", "d\n"]


@pytest.mark.parametrize("name", ["check", "stress"])
def test_every_data_file_of_the_plans_is_named_by_a_property(name):
    path = ROOT / "plans" / f"{name}.jmx"
    root = read_tree(path, {})
    feeds = list(feeds_of(root, path.parent, expander_of(root, {})))
    assert [each.property for each in feeds] == [
        f"{it}_data" for it in ("calculate", "sum", "search", "kittens", "pi")
    ]
    assert all(each.file.is_file() and each.is_headed for each in feeds)
