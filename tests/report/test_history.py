"""What the gate says: its reasons, and among how many runs there are none."""

from dataclasses import replace

import numpy as np

from support.histories import ANCHOR, measure, nights, noise, record, stepped
from tollgate.history.series import executions
from tollgate.report import history as text

NEWEST = 7
LOST = "compare: reload of fork 1 lost 3 requests"


def said(records):
    """The lines of the gate."""
    gating = [it for it in executions(records) if it.anchor]
    return [*text.summary(gating, text.reasons(gating, NEWEST), NEWEST)]


def test_since_when_a_step_is_known_is_counted_from_the_newest_run():
    changes = np.expm1(stepped(48, (40, 0.045)) + noise(np.random.default_rng(1), 48, wild=0))
    seen = executions(nights(changes))[0].series[0].steps[0].seen
    for ago, when in enumerate(("with the newest run", "1 run ago", "2 runs ago")):
        (_, reason) = said(nights(changes[: seen + 1 + ago]))
        assert reason.endswith(f", known {when}")


def test_a_pass_counts_the_runs_that_gate_and_says_where_they_are_too_few_for_a_step():
    passed = "PASS: nothing has risen since the anchor beyond its effect; "
    later = replace(ANCHOR, description="9f8e7d6 (v1.3)", revision="9f8e7d6" + 33 * "0")
    others = [
        record(1, measure("sum", "p95", 9.0, effect=False), kind="check", anchor=None),
        record(2, measure("sum", "p50", 0.0), anchor=later),
    ]
    for runs, end in (
        (1, "no step can be found among 1 run"),
        (12, "no step can be found among 12 runs"),
        (13, "the newest 7 of 13 runs found no step upwards"),
    ):
        assert said([*others, *nights([0.0] * (runs + 3))[3:]]) == [passed + end]


def test_the_answer_names_what_the_table_does_not_pass():
    def verdicts(*changes, metric="p50"):
        (found,) = executions(nights(changes, metric=metric))
        return [it.split()[0] for it in text.lines(found, NEWEST, lambda *_: []) if " sum " in it]

    for changes, metric, verdict, end in (
        ([0.0] * 4 + [9.0], "p50", "FAIL", ": +900.0 % (+898.0 % to +902.0 %)"),
        ([0.0] * 4 + [0.4], "errors", "FAIL", ": +40.00 points (+38.00 points to +42.00 points)"),
        ([0.0] * 4 + [0.1], "p50", "INCONCLUSIVE", "+10.0 % (+8.0 % to +12.0 %) in the newest run"),
        ([0.0, 9.0] * 5 + [0.0], "p50", "INCONCLUSIVE", "; 3 of the newest 7 runs failed"),
        ([0.0] * 5, "p50", "PASS", ""),
    ):
        assert verdicts(*changes, metric=metric) == [verdict]
        first, *more = said(nights(changes, metric=metric))
        assert first.startswith("FAIL: 1 reason" if verdict == "FAIL" else "PASS: no")
        assert ("beyond doubt" in first) == (verdict == "INCONCLUSIVE")
        assert [it.split()[:5] for it in more] == [
            [verdict, "compare:", metric, "of", "sum"] for _ in more
        ]
        assert [it.endswith(end) for it in more] == [True] * (verdict != "PASS")


def test_a_pass_counts_the_runs_since_the_last_step():
    changes = np.expm1(stepped(48, (40, -0.06)) + noise(np.random.default_rng(1), 48, wild=0))
    (passed,) = said(nights(changes))
    assert passed.endswith("; no step can be found among 8 runs of 48")


def test_a_fail_of_the_newest_run_that_is_no_metric_is_a_reason_once_and_one_of_before_is_none():
    records = nights([0.0, 0.0])
    failed = replace(records[1], failed=(LOST,))
    assert said([records[0], failed]) == ["FAIL: 1 reason", f"  FAIL {failed.run}: {LOST}"]
    two = replace(failed.executions[0], name="other")
    both = replace(failed, executions=(*failed.executions, two))
    assert said([records[0], both]) == said([records[0], failed])
    assert said([replace(records[0], failed=(LOST,)), records[1]])[0].startswith("PASS")
