"""Whose rows a label holds: samplers', parent samples', or sums that are no requests besides."""

import itertools

import pytest

from support import jmx_text as jmx
from support.own_run import gathered, make, rows, transactions, verdict_on
from support.run_folder import reasons
from tollgate.gather.context import EvidenceError
from tollgate.report.pages.run import spread
from tollgate.report.pages.run.view import View


def transaction(name, *children, parent=False):
    """A Transaction Controller, with or without 'Generate parent sample'."""
    return jmx.element(
        "TransactionController", name, children, TransactionController__parent=str(parent).lower()
    )


def plan_of(*children):
    return jmx.plan(jmx.group(*children))


#: A Transaction Controller with the name of a sampler in it.
NAMESAKE = plan_of(transaction("home", jmx.sampler("home"), jmx.sampler("cart")))
PARENT = plan_of(transaction("order", jmx.sampler("step"), parent=True))


def in_turn(*parts):
    """Lines as JMeter writes them: in the order of time."""
    return sorted(itertools.chain(*parts))


def namesakes(failed):
    return in_turn(rows("home", failed=failed), rows("cart"), transactions("home", failed=failed))


def test_a_transaction_of_a_samplers_name_does_not_take_the_samplers_place(tmp_path):
    verdict = verdict_on(tmp_path, NAMESAKE, namesakes(60), "fail>0%")
    (result,) = verdict.executions[0].criteria
    assert (verdict.verdict, result.observed, result.samples) == ("FAIL", 30, 200)
    assert verdict_on(tmp_path, NAMESAKE, namesakes(0), "fail>0%").verdict == "PASS"
    verdict = verdict_on(tmp_path, NAMESAKE, namesakes(100), "p50 of cart>1s")
    assert verdict.verdict == "FAIL"
    assert "every request of home failed (n=100)" in reasons(verdict)


def test_a_name_that_a_sampler_and_a_transaction_share_is_not_judged(tmp_path):
    with pytest.raises(EvidenceError, match="names a sampler and a Transaction Controller"):
        verdict_on(tmp_path, NAMESAKE, namesakes(60), "fail of home>0%")
    # They may turn out to share it as the plan runs.
    plan = plan_of(transaction("home", jmx.sampler("${page}")))
    lines = in_turn(rows("home", failed=60), transactions("home", failed=60))
    for criterion in ("fail of home>99%", "p95-slope of home>1ms/min"):
        verdict = verdict_on(tmp_path, plan, lines, criterion)
        assert verdict.verdict == "INVALID"
        assert "is the name of a sampler and of a Transaction Controller" in reasons(verdict)


def test_the_page_shows_the_sampler_and_not_the_transaction_of_its_name(tmp_path):
    make(tmp_path, NAMESAKE, namesakes(60), "fail>0%")
    execution = gathered(tmp_path)
    kinds = sorted((data.name, data.is_transaction) for data in execution.labels.values())
    assert kinds == [("cart", False), ("home", False), ("home", True)]
    view = View(execution, "own", 0)
    assert sorted(spread.by_size([view])) == ["cart", "home"]
    assert [data.service.errors for data in view.by_name["home"]] == [60]
    assert spread.content([view])


@pytest.mark.parametrize("failed", [0, 3])
def test_a_parent_sample_is_a_request_for_it_is_the_only_trace_of_its_samplers(tmp_path, failed):
    criteria = ("fail>0%", "fail of order>0%", "p95>1s")
    verdict = verdict_on(tmp_path, PARENT, transactions("order", failed=failed), *criteria)
    results = verdict.executions[0].criteria
    assert verdict.verdict == ("FAIL" if failed else "PASS")
    assert [result.samples for result in results] == [100, 100, 100]
    assert [result.observed for result in results[:2]] == [failed, failed]


def test_failures_of_a_parent_sample_that_no_criterion_covers_are_warned_about(tmp_path):
    verdict = verdict_on(tmp_path, PARENT, transactions("order", failed=3), "p95>1s")
    warnings = " ".join(verdict.executions[0].warnings)
    assert "3 of 100 requests of order failed" in warnings
    assert "order: judged by service time" in warnings


def test_parent_samples_of_a_name_with_a_variable_are_requests(tmp_path):
    plan = plan_of(transaction("order ${id}", jmx.sampler("step"), parent=True))
    lines = in_turn(transactions("order 1", failed=3), transactions("order 2"))
    verdict = verdict_on(tmp_path, plan, lines, "fail>0%", "fail of order 1>0%")
    assert [it.observed for it in verdict.executions[0].criteria] == [1.5, 3]


def test_parent_samples_that_jmeter_broke_off_do_not_stand_for_all_of_their_name(tmp_path):
    broken = rows("order", n=2, failed=2, code="500", message="")
    lines = in_turn(transactions("order"), broken)
    verdict = verdict_on(tmp_path / "few", PARENT, lines, "fail of order>5%")
    assert (verdict.verdict, verdict.executions[0].criteria[0].samples) == ("PASS", 102)
    lines = in_turn(transactions("order", failed=100), broken)
    verdict = verdict_on(tmp_path / "all", PARENT, lines, "p50 of order>1s")
    assert "every request of order failed (n=102)" in reasons(verdict)


def test_a_parent_sample_and_a_sampler_of_one_name_are_judged_together(tmp_path):
    group = jmx.group(transaction("home", jmx.sampler("step"), parent=True), name="others")
    plan = jmx.plan(jmx.group(jmx.sampler("home")), group)
    lines = in_turn(rows("home"), transactions("home", failed=30))
    verdict = verdict_on(tmp_path, plan, lines, "fail of home>20%")
    (result,) = verdict.executions[0].criteria
    assert (result.observed, result.samples) == (15, 200)
    view = View(gathered(tmp_path), "own", 0)
    assert spread.by_size([view]) == ["home"]
    assert len(view.by_name["home"]) == 2
    assert spread.content([view])


def test_a_transaction_around_a_parent_sample_adds_it_up_and_is_no_request(tmp_path):
    plan = plan_of(transaction("visit", transaction("order", jmx.sampler("step"), parent=True)))
    lines = in_turn(transactions("order"), transactions("visit"))
    verdict = verdict_on(tmp_path, plan, lines, "hits<100", "hits of visit<100")
    assert verdict.verdict == "PASS"
    assert [result.samples for result in verdict.executions[0].criteria] == [100, 100]


def test_an_answer_that_only_looks_like_a_transaction_is_a_request(tmp_path):
    plan = plan_of(jmx.sampler("home"), transaction("visit", jmx.sampler("cart")))
    lines = in_turn(rows("home"), transactions("home", n=50, failed=50), rows("cart"))
    verdict = verdict_on(tmp_path, plan, lines, "fail>0%")
    assert (verdict.verdict, verdict.executions[0].criteria[0].observed) == ("FAIL", 20)


def test_transactions_of_one_name_with_a_parent_sample_and_without_are_refused(tmp_path):
    beside = transaction("order", jmx.sampler("cart"))
    plan = plan_of(beside, transaction("order", jmx.sampler("step"), parent=True))
    said = r"^.*with 'Generate parent sample' and without.*rename one of them.*\Z"
    with pytest.raises(EvidenceError, match=said):
        verdict_on(tmp_path, plan, transactions("order"), "fail>0%")


def test_rows_that_may_be_of_either_kind_make_the_run_invalid(tmp_path):
    beside = transaction("order 1", jmx.sampler("cart"))
    plan = plan_of(beside, transaction("order ${id}", jmx.sampler("step"), parent=True))
    verdict = verdict_on(tmp_path, plan, in_turn(rows("cart"), transactions("order 1")), "fail>0%")
    assert verdict.verdict == "INVALID"
    assert "kpi.jtl: holds rows of Transaction Controllers named 'order 1'" in reasons(verdict)
    clear = in_turn(rows("cart"), transactions("order 2", failed=1))
    assert verdict_on(tmp_path, plan, clear, "fail>0%").verdict == "FAIL"


NO_MESSAGE = {"lacking": ["responseMessage"]}


def test_without_messages_nobody_can_tell_transactions_from_requests(tmp_path):
    lines = in_turn(rows("cart", failed=60), transactions("visit", failed=60))
    plan = plan_of(transaction("visit", jmx.sampler("cart")))
    verdict = verdict_on(tmp_path, plan, lines, "fail>99%", **NO_MESSAGE)
    assert verdict.verdict == "INVALID"
    assert "kpi.jtl:1: the header has no column responseMessage" in reasons(verdict)
    assert "`modules.jmeter.csv-jtl-flags.message` true" in reasons(verdict)
    lines = transactions("order", failed=3)
    for plan in (plan_of(jmx.sampler("order")), PARENT):  # without transactions all are requests
        verdict = verdict_on(tmp_path, plan, lines, "fail>0%", **NO_MESSAGE)
        assert (verdict.verdict, verdict.executions[0].criteria[0].observed) == ("FAIL", 3)


SUMS = {
    "avg-ct>5ms": ("Connect", "connectTime"),
    "avg-ct of home>5ms for 2s": ("Connect", "connectTime"),
    "avg-lt>9ms": ("Latency", "latency"),
    "bytes>900mb": ("bytes", "bytes"),
    "bytes>900mb over 2s": ("bytes", "bytes"),
    "concurr>5": ("allThreads", "threadCounts"),
}


@pytest.mark.parametrize("criterion", SUMS)
def test_what_the_jtl_has_no_column_of_is_not_taken_for_zero(tmp_path, criterion):
    plan, (column, flag) = plan_of(jmx.sampler("home")), SUMS[criterion]
    assert verdict_on(tmp_path, plan, rows("home"), criterion).verdict == "PASS"
    verdict = verdict_on(tmp_path, plan, rows("home"), criterion, lacking=[column])
    assert verdict.verdict == "INVALID"
    assert f"the JTL has no column {column}, which " in reasons(verdict)
    assert f"`modules.jmeter.csv-jtl-flags.{flag}` true" in reasons(verdict)


def test_what_needs_no_column_that_is_missing_is_judged(tmp_path):
    lacking = [column for column, _ in SUMS.values()]
    made = tmp_path, plan_of(jmx.sampler("home")), rows("home"), "fail>0%", "p95>1s", "hits<100"
    assert verdict_on(*made, lacking=lacking).verdict == "PASS"
