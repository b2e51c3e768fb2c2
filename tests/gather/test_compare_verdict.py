"""The verdict on whole folders of comparisons whose truth is known, judged as a run's end does."""

import json
from dataclasses import astuple, replace

import pytest

from support import jmx_text
from support.compare_folder import SAME, Label, Load, both, finding, judged, make
from support.run_folder import reasons, verdict_of
from tollgate.base.exit_codes import ExitCode
from tollgate.cli import cli
from tollgate.compare import record
from tollgate.compare.facts import labels_of
from tollgate.compare.record import CpuRecord, SideRecord
from tollgate.compare.words import course
from tollgate.gather import evidence
from tollgate.gather.context import EvidenceError
from tollgate.judge.facts import JudgeSettings
from tollgate.judge.judgement import judge
from tollgate.plan.read import read_plan
from tollgate.record import manifest
from tollgate.record.manifest import ManifestError
from tollgate.report.console import verdict_headline
from tollgate.report.markdown import to_markdown
from tollgate.report.sentences import sentence

SETTINGS = Load().settings
LONG = replace(SETTINGS, budget_s=600.0)
#: Ended after 90 s of a schedule of ten minutes.
EARLY = Load(seconds=96, schedule_s=600, settings=LONG)


def test_base_against_itself_passes_and_is_told_as_the_control(tmp_path):
    verdict = judged(tmp_path, of={"head": SAME})
    assert (verdict.verdict, verdict.exit_code, verdict.reasons) == ("PASS", 0, ())
    (execution,) = verdict.executions
    assert execution.comparison.is_control
    assert "base and head are the same" in " ".join(execution.warnings)


def test_a_head_that_takes_a_fifth_longer_fails_and_the_line_says_by_how_much(
    tmp_path, monkeypatch, capsys
):
    verdict = judged(tmp_path, Load(both(ratio=1.2)))
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    p95 = finding(verdict, "p95")
    assert 0 < p95.low < 0.2 < p95.high
    text = reasons(verdict)
    for words in (
        *("(service) compare: p95 of sum: head ", " ms against base ", "% (at least +"),
        "worse beyond doubt",
    ):
        assert words in text
    assert "search" not in text
    monkeypatch.setattr("sys.argv", ["tollgate", "judge", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    assert "FAIL compare: p95 of sum: head " in capsys.readouterr().out


def test_a_failure_ends_the_measuring_and_what_was_open_then_is_no_reason(tmp_path):
    load = replace(EARLY, labels=both(ratio=1.5, sigma=0.3), settings=replace(LONG, fail_fast=True))
    verdict = judged(tmp_path, load, decided_s=60.0)
    assert (verdict.verdict, {reason.verdict for reason in verdict.reasons}) == ("FAIL", {"FAIL"})
    comparison = verdict.executions[0].comparison
    assert (comparison.doubt, comparison.gate.looks_s) == ("", (60.0,))
    left = comparison.gate.left_open
    assert {each.verdict for each in left} == {"INCONCLUSIVE"}
    said = course(comparison)
    assert said.startswith("ended by a FAIL after 60 s of at most 10 min, with 1 look; open then: ")
    assert said.endswith(", ".join(f"{it.metric} of {it.label}" for it in left))


ONLY_SEARCH = replace(SETTINGS, labels=("search",))
NO_ANSWER = "(service) compare: every request of sum to head failed (n="
UNFAIR = Label("sum", odds=0.4)
#: A load, the verdict on it, a part of its reasons, and the verdicts of findings.
LOADS = [
    (Load(both(ratio=0.8)), "PASS", "", {"p50 of sum": "IMPROVED", "p95 of sum": "IMPROVED"}),
    (Load(both(failing=(0, 0.04))), "FAIL", "errors of sum: head ", {"p95 of sum": "PASS"}),
    (Load(both(failing=(0, 1))), "FAIL", NO_ANSWER, {}),
    (Load(both(failing=(0, 1)), settings=ONLY_SEARCH), "FAIL", NO_ANSWER, {}),
    (Load(both(failing=(1, 0))), "INVALID", "every request of sum to base failed", {}),
    (Load(both(odds=0.0)), "INVALID", "sum: no samples of head", {}),
    (Load(both(odds=1.0)), "INVALID", "sum: no samples of base", {}),
    (Load(both(odds=0.4)), "INVALID", "are no fair coin: some were lost", {}),
    # What was found before the unfairness of the coin showed.
    (Load((UNFAIR, Label("search", 40.0, ratio=1.3))), "INVALID", "", {"p95 of search": "FAIL"}),
]


@pytest.mark.parametrize(("load", "expected", "said", "findings"), LOADS)
def test_a_load_of_known_truth_has_its_verdict(tmp_path, load, expected, said, findings):
    verdict = judged(tmp_path, load)
    exit_code = ExitCode[expected]
    assert (verdict.verdict, verdict.exit_code) == (expected, exit_code)
    assert said in reasons(verdict)
    # An unfair coin is the reason, not what could not be told for it.
    assert expected != "INVALID" or "p50 of sum" not in reasons(verdict)
    for key, found in findings.items():
        assert finding(verdict, *key.split(" of ")).verdict == found


NOTHING_NEW = ("200", 12000), ("304", 180)
OTHERWISE = [
    (NOTHING_NEW, (("200", 1.0, 0.0), ("304", 0.0, 1.0)), (12000, 180)),
    ((("200", 12000), ("200", 6000)), (), (12000, 6000)),
    ((("200", 1000), ("201", 1000)), (("200", 1.0, 0.0), ("201", 0.0, 1.0)), None),
]


@pytest.mark.parametrize(("answers", "codes", "sizes"), OTHERWISE)
def test_a_fast_head_that_answers_something_else_has_not_improved(tmp_path, answers, codes, sizes):
    verdict = judged(tmp_path, Load(both(ratio=0.5, answers=answers)))
    (found,) = verdict.executions[0].comparison.unlike
    assert found.label == "sum"
    assert [astuple(it) for it in found.codes] == [*codes]
    assert (found.sizes and astuple(found.sizes)) == (sizes and pytest.approx(sizes))
    said = "head answers something else: sum ("
    assert (verdict.verdict, finding(verdict, "p50").verdict) == ("PASS", "PASS")
    assert finding(verdict, "p50").change < -0.3
    assert verdict_headline(verdict).count(said) == 1
    assert sentence(verdict).startswith(f"H{said[1:]}")
    assert "better beyond doubt" not in sentence(verdict)
    assert to_markdown(verdict, "compare").splitlines()[0].count(said) == 1
    assert said in " ".join(verdict.executions[0].warnings)


@pytest.mark.parametrize("labels", [(), ("search",)])
def test_where_answers_have_to_be_the_same_others_make_a_run_invalid(tmp_path, labels):
    settings = replace(SETTINGS, labels=labels)
    load = Load(both(ratio=0.5, answers=NOTHING_NEW), settings=settings)
    verdict = judged(tmp_path, load, of={"answers": "same"})
    if labels:  # the others have no say
        assert verdict.verdict == "PASS"
        return
    assert verdict.exit_code == ExitCode.INVALID
    (reason,) = [it for it in verdict.reasons if it.verdict == "INVALID"]
    assert reason.fault == "service"
    assert "head answers something else: sum (200 in 100 % of base's" in reason.text
    assert "set `answers: any`" in reason.text


@pytest.mark.parametrize(
    "changes",
    [
        {"ratio": 0.8},  # an improvement it is
        {"ratio": 0.8, "answers": (("200", 12000), ("200", 12100))},  # headers of another length
        {"ratio": 0.8, "answers": (("200", 200), ("200", 224))},  # a short one: one more header
        {"ratio": 0.8, "failing": (0.0, 0.001)},  # what fails is a matter of errors
    ],
)
def test_answers_that_are_the_same_for_all_that_matters_take_nothing_away(tmp_path, changes):
    verdict = judged(tmp_path, Load(both(**changes)), of={"answers": "same"})
    assert verdict.executions[0].comparison.unlike == ()
    assert (verdict.verdict, finding(verdict, "p50").verdict) == ("PASS", "IMPROVED")


def test_failures_of_head_are_not_counted_again_as_other_answers(tmp_path):
    verdict = judged(tmp_path, Load(both(failing=(0, 0.04))), of={"answers": "same"})
    assert verdict.verdict == "FAIL"
    assert verdict.executions[0].comparison.unlike == ()


def test_a_label_without_a_say_is_told_and_decides_nothing(tmp_path):
    verdict = judged(tmp_path, Load(both(ratio=1.3), settings=ONLY_SEARCH))
    p95 = finding(verdict, "p95")
    assert verdict.verdict == "PASS"
    assert (p95.gates, p95.verdict, p95.low > 0.1) == (False, "INFORMATIONAL", True)


def test_lost_samples_of_any_label_are_invalid_where_the_cpu_time_of_all_decides(tmp_path):
    settings = replace(SETTINGS, gates=("cpu",), labels=("search",))
    of = {"cpu": CpuRecord(1, ())}
    verdict = judged(tmp_path, Load(both(odds=0.0), settings=settings), of=of)
    assert verdict.verdict == "INVALID"
    assert "no fair coin" in reasons(verdict)
    few = judged(tmp_path / "few", Load(both(odds=0.5), settings=settings), of=of)
    assert few.verdict == "INCONCLUSIVE"


def test_failures_of_both_sides_alike_are_no_regression_but_are_warned_about(tmp_path):
    verdict = judged(tmp_path, Load(both(failing=(0.005, 0.005))))
    assert finding(verdict, "errors").verdict != "FAIL"
    warnings = " ".join(verdict.executions[0].warnings)
    assert "requests of sum failed, and no criterion is about that" in warnings


def test_criteria_of_a_comparison_are_judged_beside_it(tmp_path):
    verdict = judged(tmp_path, Load(both(ratio=0.8)), criteria=["p95 of search>30ms"])
    assert verdict.verdict == "FAIL"
    assert "p95 of search = " in reasons(verdict)


def test_fewer_labels_with_a_say_share_the_error_among_fewer(tmp_path):
    of_all, alone = (
        finding(judged(tmp_path / str(number), Load(settings=settings)), "p95", "search")
        for number, settings in enumerate((SETTINGS, ONLY_SEARCH))
    )
    assert of_all.low < alone.low < of_all.change == alone.change


def test_a_label_that_is_to_gate_and_is_none_of_the_plan_is_refused(tmp_path):
    make(tmp_path, Load(settings=replace(SETTINGS, labels=("serach",))))
    with pytest.raises(EvidenceError, match="no serach: it has sum, search"):
        verdict_of(tmp_path)


GROUP = "<OpenModelThreadGroup"


def with_plan(folder, old, new, of=None):
    """The folder of a run whose plan was another one. of: changes to compare.json's record."""
    plan = folder / make(folder, of=of).executions[0].plan
    plan.write_text(plan.read_text().replace(old, new))
    return folder


def test_a_label_that_nobody_asked_can_not_pass(tmp_path):
    more = jmx_text.open_group(jmx_text.sampler("never"), schedule="pause(5 s)", name="never")
    verdict = verdict_of(with_plan(tmp_path, GROUP, more + GROUP))
    assert verdict.verdict == "INVALID"
    assert "never: no samples of base and head" in reasons(verdict)


def test_what_a_plan_of_somebodys_own_did_not_send_is_not_decided(tmp_path):
    more = jmx_text.open_group(jmx_text.sampler("never"), schedule="pause(5 s)", name="never")
    verdict = verdict_of(with_plan(tmp_path, GROUP, more + GROUP, of={"coin": "iteration"}))
    assert verdict.verdict == "INCONCLUSIVE"
    assert "never: no samples" not in reasons(verdict)


PARENT = jmx_text.element(
    *("TransactionController", "all of it", [jmx_text.sampler("step")]),
    TransactionController__parent="true",
)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('testname="sum"', 'testname="sum ${n}"', r"'sum \$\{n\}' as it runs"),
        (GROUP, jmx_text.group(PARENT) + GROUP, "'all of it' generates a parent sample"),
    ],
)
def test_labels_that_the_plan_does_not_name_once_for_all_are_refused(tmp_path, old, new, said):
    with pytest.raises(EvidenceError, match=said):
        verdict_of(with_plan(tmp_path, old, new))


def test_what_a_transaction_adds_up_is_not_compared(tmp_path):
    both_of = jmx_text.element("TransactionController", "all of it", [jmx_text.sampler("sum")])
    path = tmp_path / "plan.jmx"
    path.write_text(jmx_text.plan(jmx_text.open_group(both_of)))
    assert labels_of(read_plan(path, {})) == ("sum",)


def test_a_kind_compare_without_its_record_is_refused(tmp_path):
    manifest.write(replace(make(tmp_path), compare_sha256=None), tmp_path)
    (tmp_path / record.NAME).unlink()
    with pytest.raises(ManifestError, match=r"compare.json is missing, and the kind"):
        verdict_of(tmp_path)


def test_a_head_that_fails_fast_is_not_faster(tmp_path):
    times = replace(SETTINGS, gates=("p50", "p95"))
    verdict = judged(tmp_path, Load(both(ratio=0.5, failing=(0.0, 0.6)), settings=times))
    assert verdict.verdict == "INCONCLUSIVE"
    assert "% of head's requests failed: the times are not of the same work" in reasons(verdict)
    assert {reason.fault for reason in verdict.reasons} == {"service"}


def test_a_record_that_has_changed_since_the_run_ended_is_refused(tmp_path):
    made = make(tmp_path, Load(both(ratio=1.2)))
    assert verdict_of(tmp_path).verdict == "FAIL"
    kept = record.read(tmp_path)
    record.write(replace(kept, settings=replace(kept.settings, effect=0.4)), tmp_path)
    unlike = {made.compare_sha256: "has changed since", None: "was not there when"}
    for sealed, problem in unlike.items():
        manifest.write(replace(made, compare_sha256=sealed), tmp_path)
        with pytest.raises(ManifestError, match=rf"compare\.json {problem} the run ended"):
            verdict_of(tmp_path)
    manifest.write(made, tmp_path)
    (tmp_path / record.NAME).unlink()
    with pytest.raises(ManifestError, match=r"compare\.json is missing, .*: neither promise"):
        verdict_of(tmp_path)


def test_a_record_of_another_execution_is_refused(tmp_path):
    make(tmp_path, of={"execution": "fork"})
    with pytest.raises(ManifestError, match=r"about 'fork', which run\.json lacks"):
        verdict_of(tmp_path)


#: A working tree with changes.
UNCOMMITTED = replace(SAME, revision=None)


@pytest.mark.parametrize(
    ("changes", "is_control"),
    [
        ({"head": SAME}, True),
        ({}, False),
        ({"head": UNCOMMITTED}, False),
        ({"head": SAME, "injected": {"work_percent": 20.0}}, False),
        ({"head": SAME, "is_sided": True}, False),
        ({side: SideRecord(side, "http://a", None, "http://a") for side in ("base", "head")}, True),
        ({"base": SideRecord("base", "x", None, None), "head": UNCOMMITTED}, False),
    ],
)
def test_only_the_same_code_untouched_is_the_control(changes, is_control, tmp_path):
    verdict = judged(tmp_path, Load(seconds=3, schedule_s=3), of=changes)
    assert verdict.executions[0].comparison.is_control is is_control


def test_sides_of_one_commit_with_environments_of_their_own_are_not_called_the_same(tmp_path):
    verdict = judged(tmp_path, of={"head": SAME, "is_sided": True})
    said = " ".join(verdict.executions[0].warnings)
    assert "base and head are the same:" not in said
    assert "${SIDE} stands in its settings" in said


def test_inconclusive_may_pass_where_a_team_lets_it_but_not_what_its_record_contradicts(tmp_path):
    noisy = replace(EARLY, labels=(Label("sum", sigma=1.5),))
    made = make(tmp_path, noisy, decided_s=75.0)
    made.settings = {"inconclusive_passes": True}
    manifest.write(made, tmp_path)
    assert verdict_of(tmp_path).exit_code == ExitCode.INVALID


def test_the_defaults_of_the_judge_change_nothing_of_it(tmp_path):
    make(tmp_path)
    run, settings = evidence.gather(tmp_path, manifest.read(tmp_path))
    assert settings == JudgeSettings()
    assert json.loads((tmp_path / record.NAME).read_text())["settings"]["labels"] == []
    assert judge(run, settings) == judge(run)
