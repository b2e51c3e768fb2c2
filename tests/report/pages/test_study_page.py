"""The page of a study: its words, its dots of pi, and what a browser makes of it."""

from dataclasses import replace

import numpy as np
import pytest

from support import pages, studies, study_jtl
from tollgate.record import manifest
from tollgate.report.pages.kit import assemble
from tollgate.report.pages.kit.assemble import Head, Remark
from tollgate.report.pages.study import page as study_page
from tollgate.report.pages.study.series import Answers
from tollgate.study import record as study_run
from tollgate.study.design import write_blocks
from tollgate.study.model import Bottleneck, Claim, Estimate, PublishedClaim, StudyResult
from tollgate.study.words import answer, summary

#: A page of nothing but a study.
PAGE = """{% extends "kit/page.html.jinja" %}
{% from "study/study.html.jinja" import sections with context %}
{% block content %}{{ sections(study) }}{% endblock %}
"""
ATTACK = "</script><script>alert(1)</script>"
ENVIRONMENT = {"cpu": "AMD EPYC", "cores": 2, "versions": {"node": "20.20.2"}}
STUDY = studies.study()

HOW = {"design": "data/study.csv", "seed": 7, "short": False, "rounds": None}
HOW["experiments"] = ("sum", "pi")
#: Throughput and concurrency performance of five experiments, and pi by one server and by three.
CHARTS = 12


def answers(arm="one server", slowest_s=2.9):
    rng = np.random.default_rng(1)
    ms = (1000 * slowest_s * rng.beta(8, 2, 500)).astype(np.int64)
    at = np.sort(rng.uniform(0.3, 5 * slowest_s, 500))
    return Answers(arm, at, ms, np.zeros(500, bool), 10, 10)


def page_of(study=STUDY, series=None, **how):
    series = (answers(), answers("three servers", 1.6)) if series is None else series
    part = study_page.made(study, series, study_run.StudyRun(**(HOW | how)), "AMD EPYC")
    remarks = [Remark(it) for it in part.remarks]
    head = Head(part.answer, "study", part.sentence, part.answer, remarks, part.tone)
    return assemble.render(assemble.environment().from_string(PAGE), head, study=part)


def text_of(*study, **how):
    """What can be read on it."""
    return pages.text_of(page_of(*study, **how))


def claimed(*told):
    words = PublishedClaim("id", "sum", "", "", "")
    claims = [Claim(words, Estimate(1.0), each, "") for each in told]
    return studies.study(claims=tuple(claims))


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (["agrees"] * 7 + ["disagrees", "cannot tell"], "7 claims agree, 1 disagrees, 1 undecided"),
        (["agrees", "disagrees", "disagrees"], "1 claim agrees, 2 disagree, 0 undecided"),
        ([], "0 claims agree, 0 disagree, 0 undecided"),
    ],
)
def test_the_first_sentence_says_how_many_claims_hold_and_where(told, sentence):
    text = summary(claimed(*told), "AMD EPYC")
    assert text == f"{sentence}, of {len(told)} published, on AMD EPYC with 2 cores."


def test_what_can_not_be_told_is_no_answer_of_its_own():
    assert answer(claimed("cannot tell", "cannot tell")) == ("cannot tell", "unsure")
    assert answer(claimed("agrees", "agrees")) == ("2 of 2 agree", "good")
    assert answer(claimed("agrees", "cannot tell")) == ("1 of 2 agree", "unsure")


def test_a_smoke_says_that_its_figures_mean_nothing():
    assert "This was the short smoke" in text_of(short=True)
    assert "This was the short smoke" not in text_of()


def test_every_claim_stands_with_figure_interval_answer_and_reason():
    text = text_of()
    for claim in STUDY.claims:
        words = claim.of
        assert all(it in text for it in (words.claim, words.published, words.what, claim.reason))
    assert "1.86 (1.79 to 1.93)" in text


def test_an_estimate_that_is_not_known_tells_why():
    unknown = Estimate(None, note="3 rounds, 8 are needed")
    made = [replace(it, ratios=dict.fromkeys(it.ratios, unknown)) for it in STUDY.comparisons]
    assert "3 rounds, 8 are needed" in text_of(replace(STUDY, comparisons=tuple(made)))


def test_the_bottleneck_and_the_shares_of_a_cell_are_seen():
    held = replace(STUDY.cells[0], bottleneck=Bottleneck("generator", "JMeter used 1.40 cores"))
    text = text_of(replace(STUDY, cells=(held,)))
    assert "generator JMeter used 1.40 cores" in text
    assert "1.00 of the 1 core" not in text
    uneven = replace(STUDY.cells[0], workers={"0": 900, "1": 100}, busiest=0.95)
    assert "1 user 0: 900, 1: 100 95%" in text_of(replace(STUDY, cells=(uneven,)))


def test_an_outage_says_when_where_and_what_it_cost():
    assert "pi-2 0 (pid 4711) 431 1.7 0 pi" in text_of()
    gone = {**STUDY.outages[0], "to_s": None, "lost": None}
    text = text_of(replace(STUDY, outages=(gone,)))
    assert "pi-2 0 (pid 4711) 431 did not come back unknown pi" in text


def test_a_study_of_nothing_is_a_page_all_the_same():
    text = page_of(StudyResult(21, 2, (), (), (), (), ()), ())
    assert "0 claims agree" in text
    assert "data-chart=" not in text


def test_it_tells_how_to_make_the_run_again_with_the_blocks_in_the_same_order(tmp_path):
    blocks = study_jtl.design()
    study_jtl.write(tmp_path, study_jtl.load(blocks))
    write_blocks(tmp_path / study_run.BLOCKS, blocks, {"fork": 1, "cluster": 2, "balancer": 3})
    study_run.write(study_run.StudyRun(**(HOW | {"short": True})), tmp_path)
    execution = manifest.Execution("study", "plan/study.jmx", "kpi.jtl", {})
    started = "2026-11-21T04:57:17+00:00"
    record = manifest.Manifest("study", started, [], {}, dict(ENVIRONMENT), [execution])
    manifest.write(record, tmp_path)
    part = study_page.part(tmp_path, STUDY)
    command = "tollgate run -study -o modules.study.seed=7 -o modules.study.experiments=sum,pi"
    assert part.command == f"{command} -o modules.study.short=true"


@pytest.fixture
def saved(tmp_path):
    """Writes the page of a study to a file."""

    def write(*study):
        path = tmp_path / "index.html"
        path.write_text(page_of(*study))
        return path

    return write


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_a_browser_shows_it_from_disk_without_an_error_or_a_request(scheme, width, saved):
    seen = pages.look_from_disk(saved(), width, scheme)
    assert len(seen["colours"]) == CHARTS
    # The dots of pi, which come last, let others shine through and have one colour a chart.
    for found in seen["colours"][:-2]:
        assert min(pages.pixels(found, colour) for colour in pages.PALETTE[scheme]) > 50
    assert min(map(len, seen["colours"][-2:])) > 5


@pytest.mark.needs("chromium")
def test_a_label_that_is_a_script_stays_text_in_a_browser(saved):
    cells = [replace(it, cell=replace(it.cell, arm=ATTACK)) for it in STUDY.cells]
    curves = [replace(it, arm=ATTACK) for it in STUDY.curves]
    attack = replace(STUDY.claims[0].of, claim=ATTACK)
    claims = [replace(it, of=attack, reason=ATTACK) for it in STUDY.claims]
    bad = replace(STUDY, cells=tuple(cells), curves=tuple(curves), claims=tuple(claims))
    seen = pages.look(saved(bad), "--offline")
    assert pages.problems(seen) == []
    assert seen["text"].count(ATTACK) > 2 * len(claims)


@pytest.mark.needs("chromium")
def test_a_chart_is_read_by_keyboard_and_an_arm_hidden_by_its_button(saved):
    path, blue = saved(), pages.PALETTE["light"][0]
    press = ("--press", "ArrowRight@[data-chart='3']")
    button = "figure:has([data-chart='3']) .legend button:first-child"
    plain, used = pages.look(path), pages.look(path, *press, *press, "--click", button)
    assert "fork: " not in used["text"].split("users: 2\n")[1].split("\n\n")[0]
    assert "users: 2\ncluster: 44.7 requests/s (42.9 to 46.4)" in used["text"]
    assert pages.pixels(plain["colours"][3], blue) > 50
    assert pages.pixels(used["colours"][3], blue) == 0
