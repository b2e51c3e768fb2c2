"""Conditions of a certification, and the order in which they come."""

from collections import Counter

import pytest

from certification.conditions import DEFAULT, Condition, ConditionError, next_run, parse

AA, WORK, DELAY = Condition("aa"), Condition("work", 5), Condition("delay", 3, noisy=True)
EACH = {AA: 1, WORK: 1, DELAY: 1}


def order(weights, runs, seed=1, done=()):
    found = list(done)
    while len(found) < runs:
        found.append(next_run(weights, Counter(found), seed))
    return found


def test_a_condition_is_read_as_it_is_written():
    weights = parse(["aa*3", "work-5", "delay-3+noise*2"])
    assert weights == {AA: 3, WORK: 1, DELAY: 2}
    assert [condition.key for condition in weights] == ["aa", "work-5", "delay-3+noise"]


def test_head_alone_is_slowed_and_base_is_head():
    assert AA.environment() == {"BASE": "HEAD"}
    assert WORK.environment() == {"BASE": "HEAD", "HEAD_INJECT_WORK_PERCENT": "5"}
    assert DELAY.environment() == {"BASE": "HEAD", "HEAD_INJECT_DELAY_MS": "3"}
    assert DELAY.injection() == {"INJECT_DELAY_MS": "3"}
    assert AA.injection() == {}


@pytest.mark.parametrize("token", ["", "work", "work-0", "delay-2.5", "noise", "aa-5", "aa*0"])
def test_anything_else_is_refused_with_what_can_be_written(token):
    with pytest.raises(ConditionError, match=r"is no condition: write aa, work-5"):
        parse([token])


def test_a_condition_that_is_there_twice_is_refused():
    with pytest.raises(ConditionError, match=r"aa is there twice: write aa\*2"):
        parse(["aa", "aa*3"])


def test_four_rounds_of_the_default_are_what_the_certificate_promises():
    weights = parse(DEFAULT)
    assert 4 * sum(weights.values()) >= 60
    assert 4 * weights[Condition("aa")] >= 20
    assert 4 * weights[Condition("aa", noisy=True)] >= 10
    assert {(it.amount, it.noisy) for it in weights} >= {(2, False), (5, False), (10, False)}


def test_conditions_are_in_balance_wherever_it_stops():
    weights = {AA: 3, WORK: 1, DELAY: 2}
    found = order(weights, 60)
    for stop in range(1, 61):
        done = Counter(found[:stop])
        assert all(abs(done[it] - weight * stop / 6) <= weight for it, weight in weights.items())
    assert Counter(found) == {AA: 30, WORK: 10, DELAY: 20}


def test_each_round_has_an_order_of_its_own_and_the_seed_decides_it():
    found = order(EACH, 60)
    assert len({tuple(found[begin : begin + 3]) for begin in range(0, 60, 3)}) > 3
    assert order(EACH, 60) == found != order(EACH, 60, seed=2)


def test_each_condition_is_the_first_of_a_round_about_as_often_as_any_other():
    firsts = Counter(order(EACH, 900)[::3])
    assert all(75 <= firsts[it] <= 125 for it in EACH)


def test_a_run_that_was_lost_is_made_up_for():
    found = order(EACH, 30)
    assert order(EACH, 30, done=found[:7]) == found


def test_other_conditions_than_before_are_brought_into_balance_first():
    found = order({AA: 1, WORK: 1}, 14, done=[AA] * 4)
    assert found[4:8] == [WORK] * 4
    assert Counter(found) == {AA: 7, WORK: 7}
