"""study.json against study.schema.json, and study.md and the table as their readers see them."""

import copy
import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import studies
from golden_file import check_file
from judged import LABELS
from tollgate.paths import ROOT
from tollgate.render import to_json
from tollgate.study.markdown import headline, to_markdown
from tollgate.study.model import Bottleneck, Estimate, Study
from tollgate.study.output import About, to_dict
from tollgate.study.run import StudyRun
from tollgate.study.table import WIDTH, to_table

FOLDER = ROOT / "scripts" / "tollgate"
SCHEMA = json.loads((FOLDER / "study.schema.json").read_text())
VERDICT = json.loads((FOLDER / "verdict.schema.json").read_text())
REGISTRY = Registry().with_resource(
    "verdict.schema.json",
    Resource.from_contents(VERDICT),
)
VALIDATOR = Draft202012Validator(SCHEMA, registry=REGISTRY)
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
ABOUT = About("2026-11-20T23:08:20+00:00", ENVIRONMENT, HOW)
EMPTY = Study(21, 2, (), (), (), (), (), ())
NAN = float("nan")


def content_of(study):
    return json.loads(to_json(to_dict(study, ABOUT)))


def faults(content):
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(content)]


def test_the_schema_is_a_valid_schema():
    Draft202012Validator.check_schema(SCHEMA)


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
    curve = studies.study().curves[0]
    open_ended = replace(curve.fit, peak_users=Estimate(80.0, 46.0, None, "no upper end"))
    content = content_of(replace(EMPTY, curves=(replace(curve, fit=open_ended),)))
    assert content["curves"][0]["usl"]["peak_users"]["interval"] == [46.0, None]
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


def objects(schema):
    """Every part of the schema that lists fields."""
    parts = [part for part in schema.values() if isinstance(part, dict)]
    found = [schema] if "properties" in schema else []
    return found + [each for part in parts for each in objects(part)]


def test_every_field_is_described_and_required_and_no_other_is_allowed():
    parts = objects(SCHEMA)
    assert len(parts) > 12
    for part in parts:
        assert part["additionalProperties"] is False
        assert sorted(part["required"]) == sorted(part["properties"])
        for name, field in part["properties"].items():
            assert field.get("description", "").endswith("."), name


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it: it.update(version=2),
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
        lambda it: it["curves"][0]["usl"]["curve"][0].append(1),
    ],
)
def test_what_is_not_a_study_is_refused(spoil):
    content = content_of(studies.study())
    spoiled = copy.deepcopy(content)
    spoil(spoiled)
    assert (faults(content), bool(faults(spoiled))) == ([], True)


def test_the_study_reads_as_it_always_did():
    check_file("study-markdown.txt", to_markdown(studies.study(), ABOUT))
    check_file("study-table.txt", to_table(studies.study()) + "\n")


def rows(markdown):
    return [line for line in markdown.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_no_text_becomes_markup_or_breaks_a_table(label):
    made = studies.study()
    claim = replace(made.claims[0], claim=label, published=label, reason=label or "?", what=label)
    cell = replace(made.cells[0], left_out=(label,), bottleneck=Bottleneck("generator", label))
    check = replace(made.checks[0], reason=label, version=label)
    study = replace(made, claims=(claim,), cells=(cell,), checks=(check,), notes=(label,))
    text = to_markdown(study, ABOUT)
    assert "<script" not in text.replace("\\<", "")
    for row in rows(text):
        assert row.startswith("| ")
        assert row.endswith(" |")
    table = to_table(study)
    assert max(map(len, table.splitlines())) <= WIDTH
    assert "\x07" not in table + text


def test_every_claim_has_a_row_and_a_reason():
    study = studies.study()
    text = to_markdown(study, ABOUT)
    for claim in study.claims:
        assert f"- **{claim.id}**" in text
        assert f"| {claim.answer} |" in text
    table = to_table(study)
    for claim in study.claims:
        assert claim.id in table


def test_a_cell_that_the_generator_held_says_so():
    made = studies.study()
    held = replace(made.cells[0], bottleneck=Bottleneck("generator", "JMeter used 1.40 cores"))
    text = to_markdown(replace(made, cells=(held,)), ABOUT)
    assert "- fork at 1 user, generator bottleneck: JMeter used 1.40 cores" in text
    assert "1.00 of the 1 core" not in text


def test_what_could_not_be_told_is_a_dash():
    made = studies.study()
    nothing = Estimate(None, note="not measured: fork at 5 users")
    claim = replace(made.claims[0], measured=nothing, answer="cannot tell", reason=nothing.note)
    study = replace(EMPTY, claims=(claim,), experiments=(claim.system,))
    assert "| - | cannot tell |" in to_markdown(study, ABOUT)
    assert "not measured: fork at 5 users" in to_table(study)
    assert headline(study) == "Study: 0 claims agree, 0 disagree, 1 cannot be told"


def test_an_experiment_that_was_left_out_is_one_line_of_the_table():
    made = studies.study()
    table = to_table(replace(made, experiments=("sum", "pi", "search", "kittens")))
    assert "  not part of this run: calculate\n" in table
    assert "calculate-logging disagrees" not in table
    assert "calculate-logging" in table


def test_uneven_dealing_is_seen():
    made = studies.study()
    uneven = replace(made.cells[0], workers={"0": 900, "1": 100})
    text = to_markdown(replace(made, cells=(uneven,)), ABOUT)
    assert "| fork | 1 | 0: 900 (90.0 %), 1: 100 (10.0 %) |" in text


def test_an_outage_says_when_where_and_what_it_cost():
    made = studies.study()
    text = to_markdown(made, ABOUT)
    assert (
        "- worker 0 of pi-2 (pid 4711) died 431.2 s into the run during pi; its successor was "
        "online 1.7 s later; requests lost: 0" in text
    )
    gone = {**made.outages[0], "to_s": None, "lost": None, "experiment": None}
    text = to_markdown(replace(made, outages=(gone,)), ABOUT)
    assert "into the run; did not come back; requests lost: not counted" in text


def test_small_parameters_of_the_law_are_not_rounded_away():
    text = to_markdown(studies.study(), ABOUT)
    assert "kappa 0.0008 (0.00077 to 0.00083)" in text
