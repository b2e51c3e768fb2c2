"""How often the coin falls where a plan of somebody's own goes to two sides."""

import pytest

from support import jmx_text as jmx
from support.jmx_text import group, sampler
from support.sided import FOUR, cookies, once, place
from tollgate.plan import nodes


def test_a_turn_without_a_session_has_a_coin_of_its_own(made):
    for children in ((), (cookies("true"),), (cookies("true"), once(jmx.constant_timer(5)))):
        found = made(*children, group(sampler("home", **place()), threads=1))
        assert (found.told.coin, found.coins("visitors")) == ("iteration", None)
        assert found.told.repeats == 1


def test_a_group_that_is_another_user_each_turn_clears_its_cookies(made):
    thread_group = '<boolProp name="CookieManager.controlledByThreadGroup">true</boolProp>'
    for same, coin in (("false", "iteration"), ("true", "thread")):
        props = {"ThreadGroup__same_user_on_next_iteration": same}
        kept = jmx.element("CookieManager", "cookies", extra=thread_group)
        found = made(group(kept, sampler("home", **place()), threads=16, **props))
        assert found.told.coin == coin


def test_a_session_that_outlasts_a_turn_makes_it_a_coin_of_the_thread(made):
    used_before = (
        sampler("a", **place(path="/a?${token}")),
        sampler(
            "b",
            jmx.element("RegexExtractor", "t", RegexExtractor__refname="token"),
            **place(),
        ),
    )
    for children, why in (
        ((cookies("false"), sampler("home", **place())), "CookieManager 'cookies'"),
        ((once(sampler("home", **place())),), "OnceOnlyController 'once'"),
        (used_before, "the variable token"),
        (used_before[::-1], ""),
    ):
        found = made(group(*children, threads=16))
        assert found.told.lasting == why
        assert (found.told.repeats is None) == bool(why)


def test_what_a_thread_sends_once_is_told_and_not_compared(made):
    login, home = (sampler(name, **place()) for name in ("login", "home"))
    told = made(group(once(login), home, threads=16)).told
    assert told.labels == ("home",)
    assert "sent once a thread, and not compared: login" in told.remarks


def test_threads_get_their_coins_in_blocks_that_have_each_process_once(made):
    found = made(group(cookies("false"), sampler("home", **place()), threads=22), sides=FOUR)
    coins = found.coins("visitors")
    assert len(coins) == 24
    assert {tuple(sorted(coins[at : at + 4])) for at in range(0, 24, 4)} == {(0, 1, 2, 3)}
    assert found.told.threads == 10
    again = made(group(cookies("false"), sampler("home", **place()), threads=22), sides=FOUR)
    assert again.coins("visitors") == coins
    other = made(
        group(cookies("false"), sampler("home", **place()), threads=22), seed=6, sides=FOUR
    )
    assert other.coins("visitors") != coins


@pytest.mark.parametrize("threads", [1, 15])
def test_fewer_than_eight_threads_a_side_are_refused(refused, threads):
    said = refused(group(cookies("false"), sampler("home", **place()), threads=threads))
    assert f"give the group 16 threads or more, 8 a side (it has {threads})" in said


def test_threads_that_turn_once_are_sessions_of_their_own(made):
    kept = cookies("false"), sampler("home", **place())
    found = made(group(*kept, threads=3, loops=1, duration=None))
    assert (found.told.coin, found.coins("visitors")) == ("iteration", None)
    arriving = jmx.open_group(*kept)
    assert made(arriving).coins("arrivals") is None


@pytest.mark.parametrize(("loops", "coin"), [(3, "iteration"), (21, "thread"), (-1, "thread")])
def test_a_long_loop_in_a_turn_makes_it_a_coin_of_the_thread(made, refused, loops, coin):
    visits = [sampler("home", **place())]
    loop = jmx.element("LoopController", "visits", visits, LoopController__loops=loops)
    once_each = {"loops": 1, "duration": None}
    assert made(group(loop, threads=16, **once_each)).told.coin == coin
    if coin == "thread":
        assert "LoopController 'visits' outlasts" in refused(group(loop, threads=4, **once_each))


def test_what_a_set_up_group_does_it_does_to_each_process(made):
    setup = group(sampler("fill", **place()), kind="SetupThreadGroup", name="fill", loops=1)
    found = made(setup, group(sampler("home", **place())), sides=FOUR)
    names = [it.get("testname") for it, _ in nodes.groups(found.tree)]
    assert names == ["fill base 1", "fill head 1", "fill base 2", "fill head 2", "visitors"]
    assert [found.coins(it) for it in names[:4]] == [[0], [1], [2], [3]]
    assert found.told.labels == ("home",)
    nap = group(jmx.script("nap", "sleep 1"), kind="SetupThreadGroup", name="nap", loops=1)
    found = made(nap, group(sampler("home", **place())), sides=FOUR)
    assert [it.get("testname") for it, _ in nodes.groups(found.tree)] == ["nap", "visitors"]


def test_groups_of_one_name_have_coins_of_their_own(made):
    kept, home = cookies("false"), sampler("home", **place())
    found = made(group(kept, home, threads=16), group(home, threads=2), sides=FOUR)
    first, second = (below for _, below in nodes.groups(found.tree))
    assert (first[0].tag, second[0].tag) == ("UserParameters", "RandomVariableConfig")
    assert found.told.coin == "thread"


@pytest.mark.parametrize("condition", ["", "LAST", "true", "${__P(go,true)}"])
def test_a_while_controller_that_only_a_failure_ends_makes_it_a_coin_of_the_thread(made, condition):
    given = {"WhileController__condition": condition}
    visits = jmx.element("WhileController", "visits", [sampler("home", **place())], **given)
    once_each = {"loops": 1, "duration": None, "threads": 16}
    assert made(group(visits, **once_each)).told.coin == "thread"
    given = {"WhileController__condition": "${__jexl3(${left} > 0)}"}
    polls = jmx.element("WhileController", "polls", [sampler("home", **place())], **given)
    assert made(group(polls, **once_each)).told.coin == "iteration"


def test_requests_of_a_parent_sample_count_as_what_a_toss_sends(made):
    ten = jmx.element("LoopController", "10", [sampler("a", **place())], LoopController__loops=10)
    parent = '<boolProp name="TransactionController.parent">true</boolProp>'
    visit = jmx.element("TransactionController", "visit", [ten], extra=parent)
    assert made(group(visit)).told.repeats == 10


def test_threads_of_a_plugins_group_are_those_of_its_rows_and_a_rate_is_none(made, refused):
    kept = cookies("false"), sampler("home", **place())
    ultimate = jmx.plugin_group(*kept, kind="Ultimate", rows=[(10, 0, 1, 60, 1), (6, 0, 1, 60, 1)])
    assert (made(ultimate).told.coin, made(ultimate).told.threads) == ("thread", 8)
    arrivals = jmx.plugin_group(*kept, kind="Arrivals", TargetLevel=60)
    assert "(it has a pool, of which nobody knows how many)" in refused(arrivals)


def test_a_plan_with_a_variable_of_the_coins_name_is_refused(refused):
    rows = jmx.element("CSVDataSet", "prices", variableNames="coin,price")
    said = refused(group(rows, sampler("home", **place())))
    assert "CSVDataSet 'prices' sets the variable coin, by which" in said


def test_how_many_requests_a_toss_sends_is_known_of_loops_with_numbers(made):
    three = jmx.element("LoopController", "3", [sampler("a", **place())], LoopController__loops=3)
    assert made(group(three, sampler("a", **place()))).told.repeats == 4
    stopping = {"ThreadGroup__on_sample_error": "startnextloop"}
    assert made(group(sampler("a", **place()), **stopping)).told.repeats is None
