"""What follows from what base and head answered before anything was measured."""

from dataclasses import replace

import pytest

from tollgate.base.urls import Url
from tollgate.compare.answers import Answer, AnswersError, Found, judge, refuse_strays, times

URL = "http://127.0.0.1:3621/items"


def answers(label="list", base="+" * 8, head="+" * 8, processes=4):
    """One each for every + (right) and - (wrong), process by process in turn."""
    return [
        Answer(label, 2 * (at % processes) + side, at, 5 + at, it == "+", URL, "404 Not Found")
        for side, said in enumerate((base, head))
        for at, it in enumerate(said)
    ]


def test_what_both_answer_is_compared():
    assert judge(answers(), ["list"]) == Found((), ())
    # One wrong answer now and then is for the comparison to count.
    assert judge(answers(base="+++-++++", head="-+++++++"), ["list"]) == Found((), ())


def test_what_head_alone_answers_is_new():
    seen = [*answers("list"), *answers("new", base="-" * 8)]
    assert judge(seen, ["list", "new"]) == Found(("new",), ())


def test_what_base_alone_answers_is_broken_and_stays():
    found = judge(answers(head="-" * 8), ["list"])
    assert found.left_out == ()
    [line] = found.broken
    assert line == f"head does not answer 'list' rightly: {URL} gave 404 Not Found"


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("-" * 8, "-" * 8),
        ("-" * 8, ""),
        # Most of them, or all of one process: such a label is not new.
        ("--+-----", "+" * 8),
        ("+-++" * 3, "+" * 12),
        ("+-++" * 3, "+-++" * 3),
    ],
)
def test_what_base_does_not_answer_rightly_is_refused(base, head):
    with pytest.raises(AnswersError) as refused:
        judge(answers(base=base, head=head), ["list"])
    said = str(refused.value)
    assert "base does not answer 'list' rightly" in said
    assert said.endswith(f"{URL} gave 404 Not Found")
    assert ("neither does head" in said) == ("-" in head)


@pytest.mark.parametrize(
    ("url", "is_theirs"),
    [
        ("http://127.0.0.1:3621/items", True),
        ("http://127.0.0.1:3622/items", True),
        ("http://127.0.0.1:3000/items", False),
        ("https://shop.example/items", False),
        ("", False),
    ],
)
def test_a_request_that_went_to_neither_side_ends_the_run_where_its_path_may_be_a_url(
    url, is_theirs
):
    sides = [Url("http", "127.0.0.1", 3621), Url("http", "127.0.0.1", 3622)]
    seen = [replace(it, url=url) for it in answers()]
    refuse_strays(seen, (), sides)
    if is_theirs:
        refuse_strays(seen, ("list",), sides)
    else:
        with pytest.raises(AnswersError, match=r"'list' went to .*, and neither to base nor"):
            refuse_strays(seen, ("list",), sides)


def test_a_label_that_was_not_asked_says_nothing():
    assert judge(answers(), ["list", "seldom"]) == Found((), ())


ROW = {
    **{"label": "list", "coin": "3", "timeStamp": "1700000000000", "elapsed": "12"},
    **{"success": "false", "responseCode": "500", "responseMessage": "Oops", "URL": URL},
    "failureMessage": "Test failed:\n text expected",
}


def test_a_row_is_an_answer_with_what_is_wrong_with_it_in_a_line():
    found = Answer.of(ROW)
    assert (found.coin, found.end_ms, found.ok) == (3, 1700000000012, False)
    assert found.said == "500 Test failed: text expected"
    assert Answer.of(ROW | {"failureMessage": ""}).said == "500 Oops"


@pytest.mark.parametrize("change", [{"coin": "null"}, {"elapsed": None}, {"success": None}])
def test_a_row_that_is_not_whole_is_none(change):
    found = Answer.of(ROW | change)
    assert found is None or not found.ok


def test_the_times_are_those_of_later_right_answers_with_the_url_as_the_row():
    times_ms = (90, 80, 70, 4, 6, 7, 9)
    seen = [Answer("list", 0, 0, it, it != 9, f"http://h:{it}/{it % 2}", "") for it in times_ms]
    found = times(seen, ["list", "other"])
    assert found["list"].elapsed_ms.tolist() == [4, 6, 7]
    assert found["list"].row.tolist() == [0, 0, 1]
    assert [*found] == ["list"]
