import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.compare.cpu import COMPUTING, UNKNOWN, WAITING, LabelCpu
from tollgate.compare.model import CPU, ERRORS, TYPICAL
from tollgate.compare.profile import words
from tollgate.compare.profile.differences import LEAST_BLOCKS, explain, owner
from tollgate.compare.profile.model import LESS, MORE, SAME, UNCHANGED, absent
from tollgate.compare.profile.read import SIDES, Frame, ProfileBlock, ProfileError, Use, read_blocks

LEVEL, EFFECT = 0.01, 0.05
HANDLER = Frame("handler", "app/handler.js", 3)
SORT = Frame("sorted", "app/tickets.js", 9)
COMPARE = Frame("compare", "app/tickets.js", 20)
NATIVE = Frame("sort", "", 0)
COMPARATOR = Frame("", "app/tickets.js", 11)
ROUTER = Frame("next", "node_modules/router/index.js", 5)
GC = Frame("(garbage collector)", "", 0)


def blocks(base, head, n=12):
    """Blocks of both sides: stacks to milliseconds per request, with some noise of each block that
    both share and some of each side's."""
    rng = np.random.default_rng(7)

    def use(stacks, scale):
        found = {it: 1e5 * ms * scale * rng.lognormal(0, 0.03) for it, ms in stacks.items()}
        return Use(100, Counter(found))

    return [ProfileBlock(use(base, it), use(head, it)) for it in rng.lognormal(0, 0.2, n)]


BASE = {(ROUTER, HANDLER): 1.0, (ROUTER, HANDLER, SORT): 0.5, (GC,): 0.2}


def explained(head, base=BASE, rise_us=None, failed=(TYPICAL,)):
    return explain(blocks(base, head), LEVEL, EFFECT, rise_us, failed)


def names(why):
    return [it.name for it in why.named]


def test_the_function_that_takes_more_is_named_with_its_line():
    why = explained(BASE | {(ROUTER, HANDLER, SORT): 1.5})
    assert why.outcome == COMPUTING
    [named] = why.named
    assert (named.name, named.file, named.line) == SORT
    assert named.own.base_us == pytest.approx(500, rel=0.3)
    assert named.own.low_us > 0
    assert why.cpu.moved == MORE
    assert words.named(why)[0][0] == "sorted (app/tickets.js:9)"


@pytest.mark.parametrize(
    ("stack", "function"),
    [
        *(((HANDLER, SORT, NATIVE), SORT), ((HANDLER, SORT, NATIVE, COMPARATOR), SORT)),
        *(((HANDLER, COMPARATOR), COMPARATOR), ((GC,), GC)),
    ],
)
def test_a_comparator_and_native_code_count_to_the_function_that_sorts(stack, function):
    assert owner(stack) == function


def test_what_sorts_comes_before_what_it_compares_with():
    more = {(HANDLER, SORT, COMPARATOR): 0.5, (HANDLER, SORT, NATIVE, COMPARATOR, COMPARE): 2.0}
    why = explained(BASE | more)
    assert names(why) == ["sorted", "compare"]
    assert why.named[1].own.change_us > why.named[0].own.change_us


def test_a_caller_that_hardly_computes_more_and_the_engine_come_behind_what_does():
    timed = Frame("timed", "app/ask.js", 24)
    assert names(explained(BASE | {(timed,): 0.1, (timed, SORT): 5.0})) == ["sorted", "timed"]
    found = names(explained(BASE | {(ROUTER, HANDLER): 1.6, (GC,): 2.0}))
    assert found == ["handler", "(garbage collector)"]


def test_a_function_that_moved_in_its_file_or_to_another_is_the_same():
    there = Frame("sorted", "app/order.js", 40)
    why = explained({(ROUTER, HANDLER): 1.0, (ROUTER, HANDLER, there): 0.5, (GC,): 0.2})
    assert why.named == []
    [found] = [it for it in why.functions if it.name == "sorted"]
    assert (found.file, found.line) == ("app/order.js", 40)


def test_less_is_coloured_and_not_named():
    why = explained(BASE | {(ROUTER, HANDLER): 0.2}, failed=())
    assert (why.outcome, why.named, why.cpu.moved) == (UNCHANGED, [], LESS)
    assert why.functions[0].moved == LESS
    assert {it.name: it.moved for it in why.flame}["handler"] == LESS


@pytest.mark.parametrize(
    ("rise_us", "failed", "outcome"),
    [
        *((5000.0, (TYPICAL,), WAITING), (1.0, (TYPICAL,), UNKNOWN), (-5000.0, ("p95",), UNKNOWN)),
        *((None, (TYPICAL,), UNKNOWN), (5000.0, (), UNCHANGED), (5000.0, (ERRORS,), UNKNOWN)),
        (5000.0, (TYPICAL, CPU), COMPUTING),
    ],
)
def test_the_same_cpu_means_waiting_where_it_explains_no_half_of_the_rise(rise_us, failed, outcome):
    why = explained(BASE, rise_us=rise_us, failed=failed)
    assert (why.outcome, why.named) == (outcome, [])


def of_label(name, outcome, rise_ms=3.0):
    return LabelCpu(name, 7.0, 0.05, -0.2, 0.3, rise_ms, outcome)


@pytest.mark.parametrize(
    ("labels", "outcome"),
    [
        ([of_label("sum", WAITING)], WAITING),
        ([of_label("sum", COMPUTING), of_label("search", UNKNOWN, None)], COMPUTING),
        ([of_label("sum", WAITING), of_label("search", COMPUTING)], UNKNOWN),
        ([of_label("sum", UNKNOWN, None)], UNKNOWN),
    ],
)
def test_what_the_profile_can_not_tell_the_minutes_of_the_comparison_may(labels, outcome):
    made = blocks(BASE, BASE)
    why = explain(made, LEVEL, EFFECT, 1.0, (TYPICAL,), labels)
    assert (why.outcome, why.labels) == (outcome, tuple(labels))
    assert absent("no Node", labels).outcome == outcome
    told = [line for line in words.by_label(why) if "3 ms longer" in line]
    assert len(told) == sum(it.rise_ms is not None for it in labels)
    assert explain(made, LEVEL, EFFECT, None, (), labels).outcome == UNCHANGED


def test_a_change_below_half_of_the_effect_is_not_named_however_sure():
    exact = []
    for number in range(12):
        base = {(HANDLER,): 1e6, (SORT,): 1e5 + number}
        head = base | {(SORT,): 1.2e5 + 2 * number}
        exact.append(ProfileBlock(*(Use(100, Counter(it)) for it in (base, head))))
    why = explain(exact, LEVEL, EFFECT, None, failed=())
    [found] = [it for it in why.functions if it.name == "sorted"]
    assert found.own.low_us > 0
    assert found.moved == SAME
    assert explain(exact, LEVEL, 0.01, None, failed=()).named[0].name == "sorted"


def test_too_few_blocks_are_refused():
    silent = [replace(it, head=Use()) for it in blocks(BASE, BASE)]
    with pytest.raises(ProfileError, match=f"in 0 blocks, and {LEAST_BLOCKS} are needed"):
        explain(silent, LEVEL, EFFECT, None, failed=(TYPICAL,))


def test_the_flame_graph_holds_all_of_the_time_and_one_frame_a_package():
    why = explained(BASE | {(ROUTER, ROUTER, HANDLER, SORT): 1.0})
    root, *frames = why.flame
    assert (root.head_us, root.base_us) == pytest.approx((why.cpu.head_us, why.cpu.base_us))
    assert [it.name for it in frames].count("router") == 1
    assert {it.name: it.moved for it in frames}["sorted"] == MORE
    for depth in range(4):
        for left, right in pairwise(it for it in why.flame if it.depth == depth):
            assert left.from_us + left.width_us <= right.from_us + 1e-6, depth


frames = st.sampled_from([HANDLER, SORT, COMPARE, NATIVE, COMPARATOR, ROUTER])
stacks = st.lists(frames, min_size=1, max_size=6).map(tuple)


@given(st.dictionaries(stacks, st.floats(0.1, 10), min_size=1, max_size=12))
def test_each_microsecond_counts_to_one_function_and_one_frame(found):
    why = explain(blocks(found, found), 0.5, EFFECT, None, failed=())
    whole = why.cpu.base_us
    assert why.flame[0].base_us == pytest.approx(whole)
    assert sum(it.own.base_us for it in why.functions) <= whole * (1 + 1e-9)
    assert all(it.base_total_us >= it.own.base_us - 1e-6 for it in why.functions)
    assert sum(it.width_us for it in why.flame if it.depth == 1) <= why.flame[0].width_us + 1e-6


@pytest.mark.statistics
def test_a_head_like_its_base_is_named_anything_no_more_often_than_promised(repetitions):
    """Sparse samples of a millisecond, blocks of different load, 40 functions."""
    rng, level, times = np.random.default_rng(3), 0.05, repetitions(2000)
    weights = 1 / np.arange(1, 41)

    def use(load):
        answered = 1 + rng.poisson(60 * load)
        counts = rng.poisson(0.3 * answered * weights)
        found = {
            (HANDLER, Frame(f"f{k}", "app/x.js", k)): 1000.0 * n for k, n in enumerate(counts) if n
        }
        return Use(answered, Counter(found))

    wrong = 0
    for _ in times:
        made = [ProfileBlock(use(load), use(load)) for load in rng.lognormal(0, 0.3, 16)]
        why = explain(made, level, 1e-9, None, failed=())
        wrong += any(it.moved != SAME for it in (why.cpu, *why.functions))
    assert wrong <= times.most(level)


@pytest.mark.parametrize(("thread_us", "found_us"), [(500, 500), (1500, 1000), (None, 1000)])
def test_a_starved_thread_is_scaled_down_and_no_function_pays_for_the_sampling_of_idleness(
    tmp_path, thread_us, found_us
):
    sampled = {"samples": [2, 3, 3], "timeDeltas": [0, 1000, 1000]}
    block = profiled(tmp_path, sampled, thread_us)
    assert block.head.stacks == {(Frame("busy", "app/x.js", 5),): found_us}
    assert block.head.answered == 1


def test_answers_of_a_block_without_samples_do_not_count(tmp_path):
    block = profiled(tmp_path, {"samples": [], "timeDeltas": []}, 500)
    assert block == ProfileBlock(Use(), Use())


def profiled(folder, sampled, thread_us):
    """The only block of both sides, of a process each that answered one request."""
    (folder / "schedule.json").write_text(json.dumps([{"from": 0, "to": 1}]))
    profile = {
        "nodes": [
            {"id": 1, "callFrame": frame("(root)", ""), "children": [2, 3]},
            {"id": 2, "callFrame": frame("busy", "/root/app/x.js")},
            {"id": 3, "callFrame": frame("(idle)", "")},
        ],
        **{"startTime": 0, "endTime": 3000, **sampled},
    }
    line = {"block": 0, "profiled": True, "threadUs": thread_us, "answered": 1}
    for side in SIDES:
        (folder / side).mkdir()
        (folder / side / "7.jsonl").write_text(json.dumps(line))
        (folder / side / "7-0.cpuprofile").write_text(json.dumps(profile))
    [block] = read_blocks(folder, {side: [Path("/root")] for side in SIDES})
    return block


def frame(name, url):
    return {"functionName": name, "url": url, "lineNumber": 4}


def test_a_function_that_took_over_what_another_did_makes_no_head_that_computes_more():
    """As the profile of a head that only moved its work: more in one function, less in the sum."""
    why = explained({(ROUTER, HANDLER): 0.1, (ROUTER, HANDLER, SORT): 0.9, (GC,): 0.2})
    assert (why.outcome, why.cpu.moved, names(why)) == (UNKNOWN, LESS, ["sorted"])
    said = "sorted (app/tickets.js:9) computes more in head, but its CPU as a whole"
    assert words.sentence(why).startswith(said)


TIMES = st.tuples(*[st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])] * 3).filter(any)


@given(TIMES, TIMES, st.sampled_from([None, 1.0, 5000.0]), st.sampled_from([(), (TYPICAL,)]))
def test_the_sentence_follows_the_sign_and_the_interval_of_the_sum(base, head, rise_us, failed):
    stacks = (ROUTER, HANDLER), (ROUTER, HANDLER, SORT), (GC,)
    why = explained(*(dict(zip(stacks, it, strict=True)) for it in (head, base)), rise_us, failed)
    said = words.sentence(why)
    is_more = why.cpu.low_us > 0 and why.cpu.moved == MORE
    assert said.startswith("Head computes more") == (why.outcome == COMPUTING) == is_more
    if why.cpu.high_us <= 0 or why.cpu.change_us < 0:
        assert "Head computes more" not in said
    assert ("its CPU as a whole is less" in said) <= (why.cpu.high_us < 0)
    for named in why.named[:1]:
        assert words.function(named) in said
        assert named.own.low_us > 0
    assert ("No function" in said) <= (not why.named)
