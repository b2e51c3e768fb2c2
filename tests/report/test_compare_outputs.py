"""A comparison in verdict.json, JUnit, Markdown and on the console."""

import json
import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from support import compare_findings
from support.compare_findings import ALL_KINDS, GOOD, RUNS, comparison, found
from support.compare_folder import ENVIRONMENT, Load, both, judged
from support.golden import check_file
from support.judged import LABELS
from support.judged import RUNS as OTHERS
from tollgate.base.exit_codes import ExitCode
from tollgate.base.paths import SUITE
from tollgate.compare import words as told
from tollgate.compare.cpu import LabelCpu
from tollgate.compare.model import ERRORS
from tollgate.compare.processes import ProcessSpread
from tollgate.gather import evidence
from tollgate.judge.comparison import comparison_reasons, comparison_warnings
from tollgate.judge.judgement import judge
from tollgate.judge.verdicts import ExecutionVerdict, RunVerdict, worst
from tollgate.record import manifest
from tollgate.report import write as outputs
from tollgate.report.console import verdict_headline, verdict_table
from tollgate.report.json_model import to_json
from tollgate.report.json_verdict import to_dict
from tollgate.report.junit import MEASUREMENT, to_junit
from tollgate.report.markdown import to_markdown
from tollgate.report.sentences import sentence

SCHEMA = json.loads((SUITE / "scripts" / "tollgate" / "report" / "verdict.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
EVERY = RUNS["every kind"]


def verdict_on(compared=EVERY):
    """As judge would say it of a measurement that is sound, and the run."""
    reasons = tuple(comparison_reasons(compared))
    verdict = worst(reason.verdict for reason in reasons)
    execution = ExecutionVerdict("compare", verdict, reasons, (), (), comparison=compared)
    named = tuple(execution.named(reason) for reason in reasons)
    run = compare_findings.run_of(compared)
    return RunVerdict(verdict, int(ExitCode[verdict]), named, (execution,)), run


def content_of(compared=EVERY):
    return json.loads(to_json(to_dict(*verdict_on(compared), "compare", ENVIRONMENT)))


def markdown(compared=EVERY):
    return to_markdown(verdict_on(compared)[0], "compare")


def table(compared=EVERY):
    return verdict_table(verdict_on(compared)[0])


def junit(compared=EVERY):
    return ET.fromstring(to_junit(verdict_on(compared)[0], "compare").encode())


def faults(content):
    return [error.message for error in VALIDATOR.iter_errors(content)]


@pytest.mark.parametrize("name", RUNS)
def test_a_written_comparison_is_what_the_schema_says(name):
    content = content_of(RUNS[name])
    assert faults(content) == []
    (execution,) = content["executions"]
    assert execution["comparison"]["findings"]
    assert execution["comparison"]["control"] is (name == "control")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it: it.update(verdict="OPEN"),
        lambda it: it.update(mode="threads"),
        lambda it: it["base"].update(name="both"),
        lambda it: it["findings"][0].update(verdict="OPEN"),
        lambda it: it["findings"][0].update(interval=[0.1]),
        lambda it: it["findings"][0].pop("samples"),
        lambda it: it["settings"].update(gates=["p42"]),
        lambda it: it["injected"].update(work_percent="a lot"),
    ],
)
def test_what_is_no_comparison_is_refused(spoil):
    content = content_of()
    spoil(content["executions"][0]["comparison"])
    assert faults(content)


def test_other_kinds_of_runs_say_that_nothing_is_compared():
    execution = ExecutionVerdict("fork", "PASS", (), (), ())
    run = compare_findings.run_of(None)
    content = to_dict(RunVerdict("PASS", 0, (), (execution,)), run, "check", ENVIRONMENT)
    assert content["executions"][0]["comparison"] is None


def test_a_finding_is_told_with_its_numbers_for_programs():
    compared = content_of()["executions"][0]["comparison"]
    p95 = compared["findings"][2]
    found = [p95[key] for key in ("label", "metric", "unit", "verdict")]
    assert found == ["sum", "p95", "ms", "FAIL"]
    assert p95["interval"] == [pytest.approx(0.17), 0.234]
    assert p95["samples"] == {"base": 2397, "head": 2403}
    assert (compared["verdict"], compared["ended_itself_s"]) == ("FAIL", 120.0)


def test_markdown_console_and_junit_read_like_the_golden_files():
    check_file("compare/verdict.md", markdown())
    check_file("compare/control.md", markdown(RUNS["control"]))
    check_file("compare/table.txt", table() + "\n")
    check_file("compare/junit.xml", to_junit(verdict_on()[0], "compare"))


def test_the_headline_counts_criteria_and_metrics_each_by_its_name():
    verdict, _ = verdict_on()
    (execution,) = verdict.executions
    assert verdict_headline(verdict).startswith("FAIL: 9 of 12 metrics hold")
    criteria = judge(OTHERS["pass"]).executions[0].criteria
    both = replace(verdict, executions=(replace(execution, criteria=criteria),))
    assert verdict_headline(both).startswith("FAIL: 1 of 1 criteria and 9 of 12 metrics hold")


def test_junit_has_the_same_cases_whatever_came_out():
    names = [
        [(it.get("classname"), it.get("name")) for it in junit(RUNS[name]).iter("testcase")]
        for name in ("every kind", "good", "control", "of nothing")
    ]
    assert all(each == names[0] for each in names)
    wanted = [
        f"{metric} of {label}, head against base"
        for label in ("sum", "search")
        for metric in ("typical", "p50", "p95", "tail", "stalls", "errors")
    ]
    assert names[0][0] == ("tollgate.compare", MEASUREMENT)
    of_the_execution = [name for of, name in names[0] if of == "tollgate.compare.compare"]
    assert of_the_execution == [MEASUREMENT, *wanted]


def test_a_finding_of_its_own_does_not_make_the_measurement_unsound():
    sound = [it for it in junit().iter("testcase") if it.get("name") == MEASUREMENT]
    assert [list(case) for case in sound] == [[], []]


def test_inconclusive_is_green_where_a_team_lets_it_pass():
    unsure = comparison((found("p95", "INCONCLUSIVE", 0.021, 0.04, more_s=95.0),))
    verdict, _ = verdict_on(unsure)
    lenient = ET.fromstring(to_junit(replace(verdict, exit_code=0), "compare").encode())
    assert len(list(junit(unsure).iter("error"))) == 1
    assert not list(lenient.iter("error"))


CHANGES = [
    *((0.201, "+20.1 %"), (0.04996, "+4.996 %"), (0.05004, "+5.004 %"), (0.00004, "+0.004 %")),
    *((-0.0004, "-0.04 %"), (0.05, "+5.0 %"), (0.0, "0.0 %"), (None, "-")),
]


@pytest.mark.parametrize(("amount", "text"), CHANGES)
def test_a_change_is_never_rounded_onto_what_it_is_held_against(amount, text):
    assert told.change(found("p95", "PASS", 0.0, 0.0), amount, 0.05) == text


def test_a_change_of_the_error_rate_is_told_in_points():
    errors = found(ERRORS, "FAIL", 0.0052, 0.0021)
    assert told.change(errors, 0.0052, 0.001) == "+0.52 points"
    assert told.change(errors, 0.00099, 0.001) == "+0.099 points"
    assert told.line(errors, 0.001) == (
        "errors of sum: head 0.52 % against base 0 %, +0.52 points "
        "(at least +0.31 points, at most +0.73 points)"
    )


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_no_label_breaks_an_output(label):
    compared = comparison(tuple(replace(each, label=label) for each in ALL_KINDS[:5]))
    verdict, _ = verdict_on(compared)
    for row in to_markdown(verdict, label).splitlines():
        if row.startswith("|"):
            assert (row.count("|"), row.count("\\|")) == (9, 0)
    ET.fromstring(to_junit(verdict, "compare").encode())
    assert all(line.isprintable() for line in verdict_table(verdict).splitlines())


def test_no_label_becomes_markup():
    compared = comparison(tuple(replace(each, label="<script>") for each in ALL_KINDS[:5]))
    outside_of_code = "".join(markdown(compared).split("`")[::2])
    assert "<script" not in outside_of_code.replace("\\<", "")


def test_a_head_that_was_slowed_on_purpose_is_told_so():
    for text in (markdown(RUNS["injected"]).replace("\\", ""), table(RUNS["injected"])):
        assert "head was slowed on purpose: HEAD_INJECT_WORK_PERCENT=20" in text


CPU_TIME = found("cpu", "INFORMATIONAL", 0.051, 0.012, "all labels")
WAITS = LabelCpu("sum", 7.12, 0.05, -0.1, 0.2, 3.1, "waiting")


def with_cpu(finding=CPU_TIME, **settings):
    """A comparison with the CPU time of an answered request."""
    gate = replace(EVERY.gate, findings=(*ALL_KINDS, finding))
    gate = replace(gate, settings=replace(gate.settings, **settings))
    return replace(EVERY, gate=gate, cpu_by_label=(WAITS,))


def test_the_cpu_time_of_an_answer_is_written_and_shown_with_what_it_says_of_each_label():
    compared = with_cpu()
    content = content_of(compared)
    assert faults(content) == []
    written = content["executions"][0]["comparison"]
    assert written["cpu_by_label"][0]["outcome"] == "waiting"
    entry = written["findings"][-1]
    assert (entry["label"], entry["metric"], entry["unit"]) == ("all labels", "cpu", "ms")
    # Of all labels that gate together.
    assert entry["samples"] == {"base": 2 * 2397, "head": 2 * 2403}
    assert WAITS.line.endswith("its answers take 3.1 ms longer, and head waits")
    for text in (markdown(compared), table(compared)):
        assert WAITS.line in text.replace("\\", "")
        assert "all labels" in text


def test_cpu_time_is_a_test_case_where_it_decides_and_named_of_a_pass_where_it_does_not():
    assert "cpu of all labels, head against base" not in str(names_of(junit(with_cpu())))
    decides = replace(CPU_TIME, gates=True, verdict="FAIL", reason="worse beyond doubt", at_s=60.0)
    assert "cpu of all labels, head against base" in names_of(junit(with_cpu(decides)))
    reasons = [it.text for it in comparison_reasons(with_cpu(decides))]
    assert any(it.startswith("cpu of all labels: head 4.65 ms against base") for it in reasons)
    assert CPU_TIME in with_cpu().beyond
    spread = ProcessSpread("all labels", "cpu", (0.0, 0.06), (0.05, 0.07))
    assert CPU_TIME not in replace(with_cpu(), spreads=(spread,)).beyond


def names_of(tree):
    return [it.get("name") for it in tree.iter("testcase")]


def test_what_processes_differ_by_is_told_and_written():
    spread = ProcessSpread("sum", "typical", (-0.004, 0.005), (0.031, math.nan))
    several = replace(comparison(), spreads=(spread,), record=replace(EVERY.record, processes=2))
    content = content_of(several)
    assert faults(content) == []
    written = content["executions"][0]["comparison"]
    assert written["processes"] == 2
    assert written["spreads"] == [
        {"label": "sum", "metric": "typical", "base": [-0.004, 0.005], "head": [0.031, None]}
    ]
    [line] = told.processes(several)
    for text in (markdown(several), table(several)):
        assert line in text.replace("\\", "")
    assert told.promise(several) != told.promise(comparison())


def test_the_summary_of_a_github_job_has_the_table(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    outputs.append_summary(tmp_path, verdict_on()[0], "compare")
    assert "| `sum` | p95 | 4.42 ms | 5.31 ms | +20.1 % |" in (tmp_path / "summary.md").read_text()


def test_the_verdict_of_a_real_folder_is_written_as_the_schema_says(tmp_path):
    verdict = judged(tmp_path, Load(both(ratio=1.2)))
    run, _ = evidence.gather(tmp_path, manifest.read(tmp_path))
    outputs.write_all(tmp_path, verdict, run, manifest.read(tmp_path))
    assert faults(json.loads((tmp_path / "verdict.json").read_text())) == []


def test_a_pass_says_in_its_first_line_what_is_informational_and_worse_beyond_doubt():
    frozen = tuple(
        replace(it, change=2.88, low=0.9, high=6.0) if it.key == ("sum", "mean") else it
        for it in GOOD
    )
    said = "informational, and worse beyond doubt: mean of sum +288.0 % (at least +90.0 %)"
    passed = verdict_on(comparison(frozen))[0]
    assert verdict_headline(passed) == f"PASS: 12 of 12 metrics hold; {said}"
    assert to_markdown(passed, "compare").splitlines()[0].endswith(said)
    assert said in comparison_warnings(comparison(frozen))
    unsure = tuple(replace(it, low=0.04) if it.low == 0.9 else it for it in frozen)
    assert verdict_headline(verdict_on(comparison(unsure))[0]) == "PASS: 12 of 12 metrics hold"


def test_a_pass_names_what_was_foretold_to_stay_open_and_counts_it_neither_way():
    kept = [it for it in GOOD if it.metric != "p95"]
    named = [replace(it, verdict="INFORMATIONAL", gates=True) for it in GOOD if it.metric == "p95"]
    compared = comparison((*kept, *named))
    verdict, _ = verdict_on(compared)
    said = "not decided, as was known before the load: p95 (sum, search)"
    assert verdict_headline(verdict) == f"PASS: 10 of 10 metrics hold; {said}"
    assert said in comparison_warnings(compared)
    suite = ET.fromstring(to_junit(verdict, "compare")).findall("testsuite")[1]
    skipped = [it.get("name") for it in suite if it.find("skipped") is not None]
    assert skipped == ["p95 of sum, head against base", "p95 of search, head against base"]
    assert (suite.get("skipped"), suite.get("errors")) == ("2", "0")
    assert faults(content_of(compared)) == []


def test_the_headline_of_the_page_counts_many_metrics_that_were_foretold_to_stay_open():
    found = [
        replace(it, verdict="INFORMATIONAL", gates=True) if it.metric in ("p50", "p95") else it
        for it in GOOD
    ]
    compared = comparison(tuple(found))
    said = sentence(verdict_on(compared)[0])
    assert said.endswith("not decided, as was known before the load: 4 metrics.")


def test_a_pass_names_a_stall_of_head_alone_and_a_tail_that_base_has_as_well():
    seen = {
        ("sum", "stalls"): {"change": 0.016, "low": 0.001, "high": 0.02},
        ("sum", "tail"): {"change": 0.08, "low": -0.1, "high": 0.2},
    }
    verdict, _ = verdict_on(comparison(tuple(replace(it, **seen.get(it.key, {})) for it in GOOD)))
    line = verdict_headline(verdict)
    assert "stalls of sum +1.60 points (at least +0.10 points)" in line
    assert "tail of sum +8.0 % (at most +20.0 %)" in line
    assert "stalls of sum +1.60 points" in sentence(verdict)
    alone = replace(next(it for it in GOOD if it.key == ("sum", "tail")), **seen["sum", "tail"])
    assert "of tail" not in sentence(verdict_on(comparison((alone,)))[0]).partition(";")[0]
