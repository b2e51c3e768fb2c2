"""The part of a comparison in index.html: its words, its charts, and what a browser makes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pages
from compare_findings import ALL_KINDS, RUNS, comparison, found
from compare_folder import SAME, WARMUP_S, Label, Load, both, make
from run_folder import verdict_of
from tollgate import manifest
from tollgate.compare import page, page_charts, samples
from tollgate.compare.decide import close
from tollgate.compare.model import Blocks
from tollgate.compare.page_tables import Changes
from tollgate.compare.result import LabelCounts
from tollgate.evidence import gather
from tollgate.facts import Run
from tollgate.run_page import write as run_page

ATTACK = "<script>alert(1)</script>"
#: The palette's first two colours in page.css, for base and head; a screen rounds by one.
PALETTE = {"light": ((31, 111, 209), (196, 86, 11)), "dark": ((106, 169, 255), (245, 154, 76))}


def counts(values, base, head) -> LabelCounts:
    return LabelCounts("sum", *(np.array(it) for it in (values, base, head)))


def headings(run: Path) -> list[str]:
    """Of what a comparison adds to its run's page."""
    record = manifest.read(run)
    return [it.heading for it in page.part(run, record, gather(run, record)[0], "").sections]


def blocks_of(run: Path) -> tuple[Blocks, ...]:
    return samples.read(run / "kpi.jtl", ("sum", "search"), WARMUP_S, 120).blocks


def test_the_sentence_names_what_is_worse_the_largest_change_first() -> None:
    worse = found("p50", "FAIL", 0.3, 0.05, "search"), *ALL_KINDS[:5]
    said = page.sentence("FAIL", comparison(worse))
    assert said == "Head is worse than base: p50 of search +30.0 %, p95 of sum +20.1 % and 1 more."


@pytest.mark.parametrize(
    ("verdict", "name", "said"),
    [
        ("INVALID", "every kind", "The measurement is broken"),
        ("PASS", "good", "Head is no slower than base by 5 % or more, and fails no more often."),
        ("PASS", "control", "Base against itself passes"),
        ("INCONCLUSIVE", "of nothing", "Cannot tell: 6 of 6 metrics are left undecided"),
    ],
)
def test_the_sentence_says_no_more_than_the_verdict(verdict, name, said) -> None:
    assert page.sentence(verdict, RUNS[name]).startswith(said)


def test_what_is_better_is_told_of_a_head_that_passes() -> None:
    better = comparison((found("p95", "IMPROVED", -0.12, 0.03),))
    assert page.sentence("PASS", better).endswith("; better beyond doubt: p95 of sum -12.0 %.")


def test_the_course_of_the_looks_ends_where_the_verdict_stands(tmp_path) -> None:
    make(tmp_path, Load(both(ratio=1.2)))
    compared = verdict_of(tmp_path).executions[0].comparison
    gates = page.course(compared, blocks_of(tmp_path))
    assert [gate.looks_s[-1] for gate in gates] == list(compared.gate.looks_s)
    assert close(gates[-1]) == compared.gate
    assert headings(tmp_path) == ["Head against base", "Both sides", "How it was decided"]


def test_a_run_without_samples_has_a_page_all_the_same(tmp_path) -> None:
    make(tmp_path)
    (tmp_path / "kpi.jtl").write_text("timeStamp\n")
    record = manifest.read(tmp_path)
    record.executions[0].sha256 = record.executions[0].bytes = None
    manifest.write(record, tmp_path)
    assert headings(tmp_path) == ["Head against base"]
    assert "The measurement is broken" in run_page.write(tmp_path).read_text()


def test_a_histogram_holds_every_request_once() -> None:
    chart = page_charts.histogram(counts([0, 1, 2, 7, 900], [5, 10, 20, 4, 1], [0, 0, 9, 9, 2]))
    edges = page_charts._edges(np.array([0, 1, 2, 7, 900]))
    assert list(edges) == sorted(set(edges))
    lengths = page_charts._lengths(edges)
    base, head = (np.dot(series.y, lengths) for series in chart.series)
    assert base == pytest.approx(head)  # the area of all requests of a side
    assert max(max(series.y) for series in chart.series) == pytest.approx(100)
    rows = [[cell.text for cell in row] for row in chart.numbers.iter("tr")][1:]
    assert sum(float(row[1]) for row in rows) == pytest.approx(100, abs=0.3)


@pytest.mark.parametrize("values", [[0], [1], [3], [0, 5000]])
def test_a_histogram_of_few_values_is_one_all_the_same(values) -> None:
    many = [7] * len(values)
    chart = page_charts.histogram(counts(values, many, many))
    assert all(np.isfinite(series.y).all() and min(series.x) > 0 for series in chart.series)


def test_percentiles_lie_inside_of_the_millisecond_and_stop_where_few_requests_lie_beyond() -> None:
    chart = page_charts.percentiles(counts([4, 5], [500, 500], [250, 750]))
    base, head = chart.series
    at_median = chart.series[0].x.index(2.0)
    assert base.y[at_median] == pytest.approx(4.5)
    assert head.y[at_median] == pytest.approx(4.5 + 1 / 3, abs=0.01)
    assert max(base.x) == pytest.approx(200)  # 99.5 %: five of a thousand are slower


def test_a_scale_holds_none_and_the_effect_and_ends_at_its_ticks() -> None:
    scale = Changes.of([found("p95", "FAIL", 0.201, 0.031)], 0.05)
    ticks = list(scale.ticks)
    assert 0.0 in ticks
    assert ticks[0] <= -0.05
    assert ticks[-1] >= 0.232
    assert (scale.at(9.0), scale.at(-9.0)) == ("96.00%", "4.00%")
    assert [scale.told(tick) for tick in (-0.05, 0.0, 0.1)] == ["-5", "0", "+10"]


@pytest.mark.needs("chromium")
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_a_browser_shows_it_from_disk_and_a_label_stays_text(width, scheme, tmp_path) -> None:
    make(
        tmp_path, Load((Label(ATTACK, ratio=1.2), Label("search", 40.0)), seconds=60, schedule_s=60)
    )
    path = run_page.write(tmp_path)
    size = ("--viewport", f"{width}x900", "--colour-scheme", scheme)
    seen = pages.look(path, "--offline", "--full-page", *size)
    assert pages.problems(seen) == []
    assert seen["requests"] == [path.as_uri()]
    assert seen["tooWide"] == 0
    assert seen["text"].count(ATTACK) > 5
    # Two distributions of two labels come first: base and head are in each of them.
    for drawn in seen["colours"][:4]:
        for colour in PALETTE[scheme]:
            assert pixels(drawn, colour) > 50


def pixels(found_colours: dict[str, int], colour: tuple[int, int, int]) -> int:
    """How many pixels have about this colour."""
    told = ((tuple(map(int, name.split(","))), count) for name, count in found_colours.items())
    return sum(n for it, n in told if max(abs(a - b) for a, b in zip(it, colour, strict=True)) < 3)


def test_the_control_shows_its_noise(tmp_path) -> None:
    make(tmp_path, of={"head": SAME})
    assert "A against A: the noise that was found" in run_page.write(tmp_path).read_text()


def test_a_page_of_another_kind_has_no_such_part() -> None:
    record = manifest.Manifest("check", "", [], {}, {}, [])
    assert page.part(Path(), record, Run(()), "PASS") is None
