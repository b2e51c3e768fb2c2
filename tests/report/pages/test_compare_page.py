"""The part of a comparison in index.html: its words, its charts, and what a browser makes of it."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support import pages
from support.compare_findings import ALL_KINDS, GOOD, RUNS, SETTINGS, comparison, found
from support.compare_folder import SAME, WARMUP_S, Label, Load, both, judged, make
from support.profiles import WHY
from support.run_folder import verdict_of
from tollgate.compare import samples
from tollgate.compare.decide import close
from tollgate.compare.looks import course
from tollgate.compare.model import CPU, ERRORS, Gate
from tollgate.compare.power import Power
from tollgate.compare.profile.model import absent, write_why
from tollgate.compare.record import CpuRecord
from tollgate.compare.result import LabelCounts
from tollgate.judge.facts import MeasuredRun
from tollgate.judge.verdicts import ExecutionVerdict, RunVerdict
from tollgate.record import manifest
from tollgate.report import tables
from tollgate.report.markdown import to_markdown
from tollgate.report.pages.compare import charts as page_charts
from tollgate.report.pages.compare import page
from tollgate.report.pages.compare.page import Changes
from tollgate.report.pages.kit import charts
from tollgate.report.pages.kit.assemble import environment
from tollgate.report.pages.run import write as run_page
from tollgate.report.sentences import of_comparison

ATTACK = "<script>alert(1)</script>"
#: The sections of a comparison.
COMPARED = ["Head against base", "Distributions of service times", "Change at each look"]
SEARCH_ALONE = replace(Load().settings, labels=("search",))


def counts(values, base, head):
    return LabelCounts("sum", *(np.array(it) for it in (values, base, head)))


def verdict(said):
    """A verdict with no criteria beside the comparison."""
    return RunVerdict(said, 1, (), (ExecutionVerdict("compare", said, (), (), ()),))


def headings(html):
    """Of what a comparison adds to its run's page."""
    found = re.findall(r"<h2[^>]*>([^<]*)</h2>", html)
    return [it for it in found if it in (*COMPARED, "Why")]


def page_of(run, *args, **changes):
    """The page of the run of a comparison."""
    make(run, *args, **changes)
    return run_page.write(run).read_text()


def gating(decides, findings=GOOD):
    """These findings, of which some gate and the others are informational."""
    return tuple(
        it if decides(it) else replace(it, gates=False, verdict="INFORMATIONAL", reason="")
        for it in findings
    )


def test_the_sentence_names_what_is_worse_the_largest_change_first():
    worse = found("p50", "FAIL", 0.3, 0.05, "search"), *ALL_KINDS[:8]
    said = of_comparison(verdict("FAIL"), comparison(worse))
    assert said == "Head is worse than base: p50 of search +30.0 %, p95 of sum +20.1 % and 1 more."


ALL_OF_IT = (
    "ruled out is a rise of typical by 2 %, of p50 by 5 %, of p95 by 5 %, of tail by 5 %, "
    "of stalls by 3 points, of errors by 0.2 points."
)
SENTENCES = [
    ("INVALID", "every kind", "The measurement is broken, so that nothing can be said of head."),
    ("PASS", "good", f"Head against base: {ALL_OF_IT}"),
    ("PASS", "control", f"Base against itself passes, and what differs is noise: {ALL_OF_IT}"),
    ("INCONCLUSIVE", "of nothing", "Cannot tell: 12 of 12 metrics are left undecided."),
    ("INCONCLUSIVE", "good", ""),
    ("FAIL", "good", ""),
]


@pytest.mark.parametrize(("of", "name", "said"), SENTENCES)
def test_the_sentence_says_no_more_than_the_verdict(of, name, said):
    assert of_comparison(verdict(of), RUNS[name]) == said


SOME_GATE = [
    (lambda it: it.metric == "p50", ": ruled out is a rise of p50 by 5 %."),
    (lambda it: it.metric == ERRORS, ": ruled out is a rise of errors by 0.2 points."),
    (lambda it: it.label == "search" and it.gates, f", of search alone: {ALL_OF_IT}"),
    (lambda it: it.key == ("sum", "p50"), ", of sum alone: ruled out is a rise of p50 by 5 %."),
]


@pytest.mark.parametrize(("decides", "said"), SOME_GATE)
def test_the_sentence_vouches_for_what_has_a_say_alone(decides, said):
    """Head may fail 4 % of its requests where nobody asked for errors, and still pass."""
    findings = gating(decides)
    failing = tuple(
        replace(it, change=0.04, head=0.04) if it.metric == ERRORS and not it.gates else it
        for it in findings
    )
    for each in (findings, failing):
        assert of_comparison(verdict("PASS"), comparison(each)) == f"Head against base{said}"


def test_of_many_labels_that_have_a_say_the_sentence_names_some():
    each = tuple(found("p50", "PASS", 0.0, 0.01, label) for label in "abcdefg")
    said = of_comparison(verdict("PASS"), comparison(gating(lambda it: it.label != "g", each)))
    assert said.startswith("Head against base, of a, b, c, d and 2 more alone: ruled out is ")


def test_what_is_better_is_told_of_a_head_that_passes():
    said = of_comparison(verdict("PASS"), comparison((found("p95", "IMPROVED", -0.12, 0.03),)))
    assert said.endswith("; better beyond doubt: p95 of sum -12.0 %.")


def test_a_criterion_is_not_held_against_head_alone(tmp_path):
    failed = judged(tmp_path, Load(both(ratio=0.8)), criteria=["p95 of search>30ms"])
    (execution,) = failed.executions
    (result,) = execution.criteria
    unsure = replace(execution, criteria=(replace(result, verdict="INCONCLUSIVE"),))
    said = of_comparison(failed, execution.comparison)
    assert said == "A criterion on both sides together fails."
    said = of_comparison(RunVerdict("INCONCLUSIVE", 1, (), (unsure,)), execution.comparison)
    assert said == "Cannot tell: a criterion on both sides together is left undecided."


def test_where_something_else_decided_the_page_has_the_verdict_s_own_sentence(tmp_path):
    """Head fails all of a label that has no say."""
    shown = page_of(tmp_path, Load(both(failing=(0, 1)), settings=SEARCH_ALONE))
    assert "The run failed, though no criterion was violated" in shown
    assert "of search alone: ruled out is" not in shown


def test_the_course_of_the_looks_ends_where_the_verdict_stands(tmp_path):
    html = page_of(tmp_path, Load(both(ratio=1.2)))
    compared = verdict_of(tmp_path).executions[0].comparison
    blocks = samples.read(tmp_path / "kpi.jtl", ("sum", "search"), WARMUP_S, 120).blocks
    gates = [*course(compared.record, blocks, compared.gate.looks_s)]
    assert [gate.looks_s[-1] for gate in gates] == list(compared.gate.looks_s)
    assert close(gates[-1]) == compared.gate
    assert headings(html) == COMPARED


def test_cpu_time_has_a_table_of_its_own_where_it_was_recorded(tmp_path):
    rng = np.random.default_rng(1)
    used = tuple(tuple((ms * rng.lognormal(0, 0.02, 120)).tolist()) for ms in (400.0, 480.0))
    html = page_of(tmp_path / "with", of={"cpu": CpuRecord(1, used)})
    assert "CPU time of all processes of a side for each answer" in html
    assert "CPU of a request of sum: " in html
    compared = verdict_of(tmp_path / "with").executions[0].comparison
    assert [it.metric for it in compared.gate.findings][-1] == CPU
    assert CPU not in {row[1] for row in page.tables(compared)["Times"].rows}
    assert "CPU time of all processes" not in page_of(tmp_path / "without")


def test_a_run_without_samples_has_a_page_all_the_same(tmp_path):
    make(tmp_path)
    (tmp_path / "kpi.jtl").write_text("timeStamp\n")
    record = manifest.read(tmp_path)
    manifest.seal(record.executions[0], tmp_path)
    manifest.write(record, tmp_path)
    html = run_page.write(tmp_path).read_text()
    assert headings(html) == ["Head against base"]
    assert "The measurement is broken" in html


def test_a_histogram_holds_every_request_once():
    chart = page_charts.histogram(counts([0, 1, 2, 7, 900], [5, 10, 20, 4, 1], [0, 0, 9, 9, 2]))
    edges = page_charts._edges(np.array([0, 1, 2, 7, 900]))
    assert list(edges) == sorted(set(edges))
    lengths = page_charts._lengths(edges)
    base, head = (np.dot(series.y, lengths) for series in chart.series)
    assert base == pytest.approx(head)  # the area of all requests of a side
    assert max(max(series.y) for series in chart.series) == pytest.approx(100)
    assert sum(float(row[1]) for row in chart.numbers.rows) == pytest.approx(100, abs=0.3)


@pytest.mark.parametrize("values", [[0], [1], [3], [0, 5000]])
def test_a_histogram_of_few_values_is_one_all_the_same(values):
    many = [7] * len(values)
    chart = page_charts.histogram(counts(values, many, many))
    assert all(np.isfinite(series.y).all() and min(series.x) > 0 for series in chart.series)


def test_percentiles_lie_inside_of_the_millisecond_and_stop_where_few_requests_lie_beyond():
    chart = page_charts.percentiles(counts([4, 5], [500, 500], [250, 750]))
    base, head = chart.series
    at_median = chart.series[0].x.index(2.0)
    assert base.y[at_median] == pytest.approx(4.5)
    assert head.y[at_median] == pytest.approx(4.5 + 1 / 3, abs=0.01)
    assert max(base.x) == pytest.approx(200)  # 99.5 %: five of a thousand are slower


def test_a_scale_holds_none_and_the_effect_and_ends_at_its_ticks():
    scale = Changes.of([found("p95", "FAIL", 0.201, 0.031)], 0.05)
    ticks = list(scale.ticks)
    assert 0.0 in ticks
    assert ticks[0] <= -0.05
    assert ticks[-1] >= 0.232
    assert (scale.at(9.0), scale.at(-9.0)) == ("96.00%", "4.00%")
    assert [scale.text(tick) for tick in (-0.05, 0.0, 0.1)] == ["-5", "0", "+10"]


def drawn(at, table):
    """The bar of a row."""
    (column,) = (it for it in table.columns if it.kind.startswith("bar"))
    cell = table.rows[at][table.columns.index(column)]
    text = '{% import "kit/bars.html.jinja" as bars %}{{ bars.drawn(bar, scale) }}'
    return environment().from_string(text).render(bar=cell.bar, scale=column.scale)


ARROWS = "[\u25c4\u25ba]"


def times(*findings):
    return page.tables(comparison(findings))["Times"]


def test_what_lies_beyond_the_scale_is_an_arrow_and_no_dot_at_its_end():
    far = times(found("p95", "FAIL", 8.0, 2.0), found("p50", "PASS", 0.0, 0.01))
    beyond, within = drawn(0, far), drawn(1, far)
    assert ("<circle" in beyond, re.findall(ARROWS, beyond)) == (False, ["\u25ba"])
    assert ("<circle" in within, re.findall(ARROWS, within)) == (True, [])
    assert far.caption.endswith("An arrow points to what lies beyond the scale.")
    assert "arrow" not in times(found("p95", "FAIL", 0.201, 0.031)).caption
    wide = drawn(0, times(found("p95", "INCONCLUSIVE", 0.02, 0.9)))
    assert ("<circle" in wide, re.findall(ARROWS, wide)) == (True, ["\u25c4", "\u25ba"])


def test_errors_that_do_not_gate_need_not_be_ruled_out():
    free = page.tables(comparison(gating(lambda it: it.metric == "p50")))["Errors"]
    assert free.caption == "Failed requests. They are informational."
    bound = page.tables(comparison(GOOD))["Errors"]
    assert "What must be ruled out is a rise of 0.2 percentage points." in bound.caption


def test_a_metric_that_does_not_gate_is_informational_on_the_page(tmp_path):
    html = page_of(tmp_path, Load(both(), settings=SEARCH_ALONE))
    assert "informational<" in html
    assert "told only" not in html


def looked(*findings):
    """The chart of one metric that was seen like this at one look after the other."""
    moments = tuple(60.0 + 30 * at for at in range(len(findings)))
    gates = [Gate(SETTINGS, moments[: at + 1], (it,)) for at, it in enumerate(findings)]
    [chart] = page_charts.looks(gates)
    return chart


def test_a_chart_of_the_looks_has_the_numbers_of_its_table_however_large():
    chart = looked(
        found("p95", "OPEN", 30.0, 4.0, low=-0.9), found("p95", "FAIL", 8.0, 0.5, low=7.5)
    )
    [series] = charts.data(chart)["series"]
    assert (series["y"], series["low"]) == ([3000.0, 800.0], [-90.0, 750.0])
    assert series["high"] == [3400.0, 850.0]
    assert chart.y.low < -90
    assert 1600 < chart.y.high < 1800  # the last look is on it, the first is beyond
    assert "beyond" in chart.note
    assert "+800.0 %" in chart.summary
    assert "+3000.0 %" in [row[1] for row in chart.numbers.rows]


def test_a_chart_of_small_changes_reaches_no_farther_than_they_do():
    chart = looked(found("p95", "OPEN", 0.03, 0.09), found("p95", "FAIL", 0.08, 0.04))
    assert (chart.note, chart.y.high < 15, chart.y.low < -6) == ("", True, True)
    nothing = looked(replace(found("p95", "OPEN", 0.0, 0.0), change=None, low=None, high=None))
    assert (nothing.note, nothing.y.high > 10) == ("", True)


def test_what_mixes_both_sides_says_so(tmp_path):
    html = page_of(tmp_path, Load(both(), seconds=60, schedule_s=60))
    assert html.count("This is of base and head together") == 2


@pytest.mark.needs("chromium")
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_a_browser_shows_it_from_disk_and_a_label_stays_text(width, scheme, tmp_path):
    labels = Label(ATTACK, ratio=1.2, sigma=0.1), Label("search", 40.0, sigma=0.1)
    make(tmp_path, Load(labels, seconds=60, schedule_s=60))
    seen = pages.look_from_disk(run_page.write(tmp_path), width, scheme)
    assert seen["text"].count(ATTACK) > 5
    # Two distributions of two labels come first: base and head are in each of them.
    for drawn in seen["colours"][:4]:
        assert min(pages.pixels(drawn, colour) for colour in pages.PALETTE[scheme]) > 50


def test_the_control_shows_its_noise(tmp_path):
    assert "A against A: the noise that was found" in page_of(tmp_path, of={"head": SAME})


def test_a_page_of_another_kind_has_no_such_part():
    record = manifest.Manifest("check", "", [], {}, {}, [])
    assert page.part(Path(), record, MeasuredRun(())) is None


def test_why_has_a_flame_graph_and_a_table_of_text_alone(tmp_path):
    assert "Why" not in headings(page_of(tmp_path))
    write_why(WHY, tmp_path)
    html = run_page.write(tmp_path).read_text()
    assert "Why" in headings(html)
    [graph] = re.findall(r'<svg class="flame".*?</svg>', html, re.DOTALL)
    assert graph.count("<rect") == len(WHY.flame)
    assert graph.count('class="frame-bad"') == 1
    assert "&lt;script&gt;" in graph
    assert "<script>x" not in html
    [rows] = re.findall(r"<caption>CPU of the function.*?</table>", html, re.DOTALL)
    assert rows.count("<tr>") == 1 + len(WHY.functions)
    write_why(absent("it is a service by URL"), tmp_path)
    html = run_page.write(tmp_path).read_text()
    assert "No profile: it is a service by URL." in html
    assert 'class="flame"' not in html


def test_what_passes_is_folded_and_what_is_worse_is_not(tmp_path):
    html = page_of(tmp_path, Load(both(ratio=1.2)))
    folds = re.findall("<details><summary>(Times|Errors): (.*?)</summary>.*?</details>", html, re.S)
    assert [name for name, _ in folds] == ["Times", "Errors"]
    assert "2 PASS" in folds[1][1]
    worse = re.search("<caption>Service times.*?</table>", html, re.S)[0]
    assert worse.count(">FAIL<") >= 2
    assert ">PASS<" not in worse


POWER = (
    Power("all labels", "typical", 58_329, 0.021, False),
    Power("all labels", "errors", 58_329, 0.001, True),
    Power("list", "typical", 16_666, 0.025, True),
    Power("list", "p50", 16_666, None, False),
    Power("list", "errors", 16_666, 0.002, True),
)


def test_what_a_comparison_can_find_is_one_folded_table_and_no_list():
    found = tables.power_table(POWER)
    assert [it.heading for it in found.columns] == [
        "least rise found in",
        "requests a side",
        "typical",
        "p50",
        "errors",
        "can't be decided",
    ]
    assert [list(row) for row in found.rows] == [
        ["all labels", "58,329", "+2.1 %", "-", "+0.10 points", "typical"],
        ["list", "16,666", "+2.5 %", "-", "+0.20 points", "p50"],
    ]


def test_the_page_and_the_markdown_fold_what_a_comparison_can_find(tmp_path):
    make(tmp_path)
    record = manifest.read(tmp_path)
    known = run_page.judged(tmp_path)
    (execution,) = known.verdict.executions
    compared = execution.comparison
    told = replace(compared, record=replace(compared.record, power=POWER))
    verdict = replace(known.verdict, executions=(replace(execution, comparison=told),))
    facts = replace(known.run, executions=(replace(known.run.executions[0], comparison=told),))
    html = run_page.to_html(tmp_path, replace(known, run=facts, verdict=verdict))
    head = "What this comparison can find, as known before the load"
    (fold,) = re.findall(f"<details><summary>{head}</summary>.*?</details>", html, re.S)
    assert fold.count("16,666") == 1
    assert "probably be found" not in html
    assert f"<details><summary>{head}</summary>\n\n| least rise found in |" in to_markdown(
        verdict, record.kind
    )
