"""study.json against study.schema.json, and the table as its readers see it."""

import copy
import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from support import studies
from support.golden import check_file
from support.judged import LABELS
from tollgate.base.paths import ROOT
from tollgate.report.console import STUDY_WIDTH, study_headline, study_table
from tollgate.report.json_model import plain, to_json
from tollgate.report.study import StudyFile
from tollgate.study.model import Estimate, StudyResult
from tollgate.study.record import StudyRun

SCHEMA = json.loads((ROOT / "scripts" / "tollgate" / "report" / "study.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
PARTS = ("tollgate", "node", "java", "jmeter", "taurus", "pm2", "python")
ENVIRONMENT = {
    "cpu": "A CPU of 3 GHz",
    "cores": 2,
    "memory_bytes": 8 * 2**30,
    "os": "Linux 6.1 x86_64",
    "versions": dict.fromkeys(PARTS, "1.2.3"),
    "commit": "0123456789abcdef",
    "variables": {},
    "plans": {},
}
HOW = StudyRun("data/study.csv", studies.SEED, False, None, ("sum",))
STARTED = "2026-11-20T23:08:20+00:00"
EMPTY = StudyResult(21, 2, (), (), (), (), (), ())
NAN = float("nan")


def content_of(study):
    return json.loads(to_json(plain(StudyFile(STARTED, HOW, ENVIRONMENT, study))))


def faults(written):
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(written)]


@pytest.mark.parametrize("study", [studies.study(), EMPTY], ids=["full", "empty"])
def test_a_written_study_is_what_the_schema_says(study):
    assert faults(content_of(study)) == []


def test_what_is_not_finite_is_null():
    cells = studies.study().cells[:1]
    spoiled = replace(cells[0], cpu={"generator": NAN, "service": float("inf"), "idle": None})
    content = content_of(replace(EMPTY, cells=(spoiled,)))
    assert content["cells"][0]["cpu"] == {"generator": None, "service": None, "idle": None}
    assert faults(content) == []


def test_an_interval_without_one_end_keeps_the_other():
    open_ended = Estimate(80.0, 46.0, None, "no upper end")
    claim = replace(studies.study().claims[0], measured=open_ended)
    content = content_of(replace(EMPTY, claims=(claim,)))
    assert content["claims"][0]["measured"]["interval"] == [46.0, None]
    assert faults(content) == []
    nothing = Estimate(None, note="not measured")
    content = content_of(
        replace(EMPTY, claims=(replace(studies.study().claims[0], measured=nothing),))
    )
    assert content["claims"][0]["measured"] == {
        "value": None,
        "interval": None,
        "note": "not measured",
    }


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
    content = content_of(studies.study())
    spoiled = copy.deepcopy(content)
    spoil(spoiled)
    assert (faults(content), bool(faults(spoiled))) == ([], True)


def test_the_table_reads_as_it_always_did():
    check_file("study-table.txt", study_table(studies.study()) + "\n")


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_no_text_breaks_the_table(label):
    made = studies.study()
    claim = replace(made.claims[0], claim=label, published=label, reason=label or "?", what=label)
    check = replace(made.checks[0], reason=label, version=label)
    table = study_table(replace(made, claims=(claim,), checks=(check,), notes=(label,)))
    assert max(map(len, table.splitlines())) <= STUDY_WIDTH
    assert "\x07" not in table


def test_every_claim_has_a_row():
    study = studies.study()
    table = study_table(study)
    for claim in study.claims:
        assert claim.id in table


def test_what_could_not_be_told_is_a_dash():
    made = studies.study()
    nothing = Estimate(None, note="not measured: fork at 5 users")
    claim = replace(made.claims[0], measured=nothing, answer="cannot tell", reason=nothing.note)
    study = replace(EMPTY, claims=(claim,), experiments=(claim.system,))
    rows = [line.split() for line in study_table(study).splitlines() if claim.id in line]
    assert rows[0][:5] == ["cannot", "tell", claim.id, "-", "-"]
    assert "not measured: fork at 5 users" in study_table(study)
    assert study_headline(study) == "Study: 0 claims agree, 0 disagree, 1 undecided"


def test_an_experiment_that_was_left_out_is_one_line_of_the_table():
    made = studies.study()
    table = study_table(replace(made, experiments=("sum", "pi", "search", "kittens")))
    assert "  not part of this run: calculate\n" in table
    assert "calculate-logging disagrees" not in table
    assert "calculate-logging" in table
