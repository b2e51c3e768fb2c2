import xml.etree.ElementTree as ET
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from support.executions import counts, execution
from support.judged import LATE, MANY, RUNS, criterion, of_facts, on_label
from tollgate.criteria.grammar import FIELDS
from tollgate.judge.facts import ExecutionFacts, JudgeSettings, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.report.junit import MEASUREMENT, of_the_run, to_junit, unsound
from tollgate.report.markdown import to_markdown


def junit(run, kind="check"):
    return ET.fromstring(to_junit(judge(run), kind).encode())


def case(root, class_name, name=MEASUREMENT):
    every = root.iter("testcase")
    (found,) = (it for it in every if (it.get("classname"), it.get("name")) == (class_name, name))
    return found


def outcome(of):
    return [child.tag for child in of if child.tag != "system-out"]


FORK = "tollgate.check.search-fork"
# A criterion's message can't be the name of a field.
NAMES = st.text(st.characters(categories=["L", "N", "Z", "C"]), min_size=1)


@given(NAMES.filter(lambda name: name not in FIELDS))
def test_junit_holds_printable_text_alone_whatever_a_name_holds(name):
    told = ExecutionFacts(generator_error=name, notes=(name,))
    made = execution({name: "p95>1s"}, name=name, facts=told)
    text = to_junit(judge(MeasuredRun((made,), problems=(name,))), name)
    assert [it for it in text if not (it.isprintable() or it == "\n")] == []
    assert ET.fromstring(text.encode()).tag == "testsuites"


def test_junit_names_are_the_same_whatever_comes_out():
    good = execution(*MANY)
    runs = (
        MeasuredRun((good,)),
        MeasuredRun((good,), True),
        MeasuredRun((good,), problems=("the disk is full",)),
        MeasuredRun((replace(good, schedules=LATE),)),
        MeasuredRun((execution(*MANY, service=counts(0)),)),
        MeasuredRun((execution(*MANY, service=counts(failed=3000)),)),
    )
    cases = [("tollgate.check", MEASUREMENT), *((FORK, name) for name in (MEASUREMENT, *MANY))]
    for run in runs:
        assert [
            (it.get("classname"), it.get("name")) for it in junit(run).iter("testcase")
        ] == cases


def test_fail_is_a_failure_and_what_cannot_be_told_is_an_error():
    root = junit(RUNS["pass, fail and inconclusive"])
    assert [outcome(case(root, FORK, name)) for name in MANY] == [[], ["error"], ["failure"], []]
    assert outcome(case(root, FORK)) == []
    suite = root.find(f"testsuite[@name='{FORK}']")
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["5", "1", "1"]
    assert outcome(case(junit(RUNS["no samples"]), FORK, "p95>1s")) == ["error"]


def test_a_failure_says_the_observed_value_the_limit_the_interval_and_the_count():
    failure = case(junit(RUNS["fail"]), FORK, "p95 of search>150ms").find("failure")
    line = judge(RUNS["fail"]).executions[0].criteria[0].line
    assert failure.get("message") == line
    assert line.startswith("p95 of search = 195 ms (limit 150 ms, 95 % CI ")
    assert failure.text == f"{line}: over the limit by 30 %, beyond doubt"


def test_suites_say_when_they_began_and_cases_after_how_many_seconds_they_were_decided():
    verdict = judge(RUNS["fail"])
    early = replace(verdict.executions[0].criteria[0], decided_after_s=10.0)
    decided = replace(verdict.executions[0], criteria=(early, *verdict.executions[0].criteria[1:]))
    spans = {decided.name: (1_782_000_000.25, 1_782_000_060.5)}
    text = to_junit(replace(verdict, executions=(decided,)), "check", spans)
    root = ET.fromstring(text)
    began = {suite.get("timestamp") for suite in root}
    assert began == {"2026-06-21T00:00:00"}
    # What readers add up is what was measured.
    assert [suite.get("time") for suite in root] == ["0.000", "60.250"]
    assert case(root, FORK, early.criterion).get("time") == "10.000"
    assert case(root, FORK).get("time") == "60.250"
    unbegun = ET.fromstring(to_junit(verdict, "check"))
    assert {it.get("time") for it in unbegun.iter("testcase")} == {"0.000"}
    assert all(it.get("timestamp") is None for it in unbegun)


def test_a_criterion_without_a_say_is_never_a_failure():
    run = MeasuredRun(
        (execution("p95 of search>250ms", "p95 of search>100ms, continue as non-failed"),)
    )
    assert not list(junit(run).iter("failure"))
    assert "| 195 ms (+95 %) | 100 ms | 194-196 | 3,000 | informational |" in to_markdown(
        judge(run), "check"
    )


def test_what_makes_a_measurement_unsound_is_told_in_a_case_of_its_own():
    root = junit(RUNS["invalid"])
    message = case(root, FORK).find("error").get("message")
    assert "the generator was too slow (the generator's fault)" in message
    assert "; the generator sent 40 of 2900 requests of search" in message
    assert outcome(case(root, FORK, "p95 of search>250ms")) == []
    root = junit(MeasuredRun((execution("p95 of search>250ms", service=counts(failed=3000)),)))
    message = case(root, FORK).find("failure").get("message")
    assert "every request of search failed" in message


def test_the_runs_own_reasons_are_told_in_a_case_of_the_run():
    for name, text in {
        "interrupted": "the run was interrupted (the operator's fault)",
        "a problem": "the run ended with an error: full (the machine's fault)",
        "nothing ran": "nothing ran: the run has no executions (the operator's fault)",
    }.items():
        assert case(junit(RUNS[name]), "tollgate.check").find("error").get("message") == text
    assert outcome(case(junit(RUNS["fail"]), "tollgate.check")) == []


def test_an_execution_named_like_the_beginning_of_another_text_takes_no_reason_away():
    named = replace(execution("p95 of search>250ms"), name="the run ended with an error")
    run = MeasuredRun((named,), problems=("the run ended with an error: full",))
    (reason,) = of_the_run(judge(run))
    assert reason.text == "the run ended with an error: full"
    alike = MeasuredRun(
        (replace(RUNS["invalid"].executions[0], name="a"), replace(named, name="a: b"))
    )
    assert of_the_run(judge(alike)) == []


def test_a_problem_told_in_the_words_of_a_criterion_still_makes_the_measurement_unsound():
    line = judge(of_facts("p95 of search>150ms")).executions[0].criteria[0].line
    verdict = judge(of_facts("p95 of search>150ms", machine_problems=(f"{line}: lost",)))
    assert [reason.text for reason in unsound(verdict.executions[0])] == [f"{line}: lost"]


def test_junit_keeps_a_label_but_for_what_xml_cannot_write():
    root = junit(on_label("nul\x00 <a> 🐌\n\udc80"))
    assert "p95 of nul? <a> 🐌\n?>150ms" in [it.get("name") for it in root.iter("testcase")]
    assert case(junit(RUNS["pass"], kind="a\x00<b>"), "tollgate.a?<b>") is not None


def test_junit_is_utf_8_whatever_the_locale(monkeypatch):
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "ISO-8859-1")
    monkeypatch.setattr("locale.getencoding", lambda: "ISO-8859-1", raising=False)
    names = [it.get("name") for it in junit(on_label("snail 🐌")).iter("testcase")]
    assert "p95 of snail 🐌>150ms" in names


def test_inconclusive_is_green_where_a_team_lets_it_pass_and_an_error_elsewhere():
    few = MeasuredRun((execution("p99 of search>5s", service=counts(60, 30)),))
    for lenient, wanted in ((False, ["error"]), (True, [])):
        verdict = judge(few, JudgeSettings(inconclusive_passes=lenient))
        assert verdict.verdict == "INCONCLUSIVE"
        root = ET.fromstring(to_junit(verdict, "check").encode())
        [found] = [it for it in root.iter("testcase") if it.get("name") != MEASUREMENT]
        assert outcome(found) == wanted


def test_no_text_attaches_a_file_of_the_machine():
    attack = "[[ATTACHMENT|/etc/hostname]]"
    run = of_facts(criterion(attack), notes=(attack,), machine_problems=(attack,))
    texts = [it.text or "" for it in ET.fromstring(to_junit(judge(run), "check")).iter()]
    assert any("ATTACHMENT|/etc/hostname]]" in it for it in texts)
    assert not [it for it in texts if attack in it]
