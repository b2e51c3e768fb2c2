"""study.json against study.schema.json, and the table as its readers see it."""

import json
import math
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from support import studies
from support.golden import check_file
from support.judged import LABELS
from tollgate.base.paths import SUITE
from tollgate.report.console import STUDY_WIDTH, study_table
from tollgate.report.json_model import plain, to_json
from tollgate.report.study import StudyFile
from tollgate.study.model import Estimate, StudyResult
from tollgate.study.record import StudyRun

SCHEMA = json.loads((SUITE / "scripts" / "tollgate" / "report" / "study.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
PARTS = ("tollgate", "node", "java", "jmeter", "taurus", "pm2", "python")
ENVIRONMENT = {
    **{"cpu": "A CPU of 3 GHz", "cores": 2, "memory_bytes": 8 * 2**30, "os": "Linux 6.1 x86_64"},
    **{"commit": "0123456789abcdef", "variables": {}, "plans": {}},
    "versions": dict.fromkeys(PARTS, "1.2.3"),
}
STUDY = studies.study()
HOW = StudyRun("data/study.csv", studies.SEED, False, None, ("sum",))
STARTED = "2026-11-20T23:08:20+00:00"
EMPTY = StudyResult(21, 2, (), (), (), (), ())


def content_of(study):
    return json.loads(to_json(plain(StudyFile(STARTED, HOW, ENVIRONMENT, study))))


def faults(written):
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(written)]


@pytest.mark.parametrize("study", [STUDY, EMPTY], ids=["full", "empty"])
def test_a_written_study_is_what_the_schema_says(study):
    assert faults(content_of(study)) == []


def test_what_is_not_finite_is_null():
    cpu = {"generator": math.nan, "service": math.inf, "idle": None}
    content = content_of(replace(EMPTY, cells=(replace(STUDY.cells[0], cpu=cpu),)))
    assert content["cells"][0]["cpu"] == dict.fromkeys(cpu)
    assert faults(content) == []


def test_an_interval_without_one_end_keeps_the_other():
    def measured(estimate):
        claim = replace(STUDY.claims[0], measured=estimate)
        content = content_of(replace(EMPTY, claims=(claim,)))
        assert faults(content) == []
        return content["claims"][0]["measured"]

    assert measured(Estimate(80.0, 46.0, None, "no upper end"))["interval"] == [46.0, None]
    nothing = {"value": None, "interval": None, "note": "not measured"}
    assert measured(Estimate(None, note="not measured")) == nothing


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it: it.update(version=1),
        lambda it: it.update(score=1),
        lambda it: it.pop("notes"),
        lambda it: it["claims"][0].update(answer="maybe"),
        lambda it: it["claims"][0].update(reason=""),
        lambda it: it["claims"][0]["measured"].update(value="1"),
        lambda it: it["claims"][0]["measured"].update(interval=[1]),
        lambda it: it["cells"][0]["bottleneck"].update(who="nobody"),
        lambda it: it["cells"][0]["metrics"].pop("p99"),
        lambda it: it["cells"][0].update(failed=-1),
        lambda it: it["environment"].pop("commit"),
        lambda it: it["outages"][0].update(lost=0.5),
        lambda it: it["curves"][0].update(usl=None),
    ],
)
def test_what_is_not_a_study_is_refused(spoil):
    content = content_of(STUDY)
    assert faults(content) == []
    spoil(content)
    assert faults(content)


def test_the_table_reads_as_it_always_did_with_a_row_for_every_claim():
    table = study_table(STUDY)
    check_file("study-table.txt", table + "\n")
    assert all(claim.of.id in table for claim in STUDY.claims)


def test_an_experiment_that_was_left_out_is_one_line_of_the_table():
    cells = tuple(it for it in STUDY.cells if it.cell.experiment != "calculate")
    table = study_table(replace(STUDY, cells=cells))
    assert "  not part of this run: calculate\n" in table
    assert "calculate-logging disagrees" not in table
    assert "calculate-logging" in table


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_no_text_breaks_the_table(label):
    words = replace(STUDY.claims[0].of, claim=label, published=label, what=label)
    claim = replace(STUDY.claims[0], of=words, reason=label or "?")
    check = replace(STUDY.checks[0], reason=label, version=label)
    table = study_table(replace(STUDY, claims=(claim,), checks=(check,), notes=(label,)))
    assert max(map(len, table.splitlines())) <= STUDY_WIDTH
    assert "\x07" not in table


def test_what_could_not_be_told_is_a_dash():
    nothing = Estimate(None, note="not measured: fork at 5 users")
    claim = replace(STUDY.claims[0], measured=nothing, answer="cannot tell", reason=nothing.note)
    study = replace(EMPTY, claims=(claim,), cells=STUDY.cells)
    rows = [line.split() for line in study_table(study).splitlines() if claim.of.id in line]
    assert rows[0][:5] == ["cannot", "tell", claim.of.id, "-", "-"]
    assert "not measured: fork at 5 users" in study_table(study)
    assert "\nStudy: 0 claims agree, 0 disagree, 1 undecided\n" in study_table(study)
