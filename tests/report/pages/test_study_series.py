"""The dots of pi, against the requests one by one."""

from dataclasses import replace

import numpy as np
import pytest

from support import study_jtl
from tollgate.report.pages.study import charts
from tollgate.report.pages.study.series import MOST_ANSWERS, pi_series
from tollgate.samples.layout import JtlError


def test_the_dots_of_pi_are_those_of_the_most_users_after_the_warm_up(tmp_path):
    blocks = study_jtl.design()
    sent = study_jtl.load(blocks)
    (found,) = pi_series(study_jtl.write(tmp_path, sent), blocks)
    expected = []
    for block in (it for it in blocks if it.cell.experiment == "pi" and it.round > 0):
        mine = [it for it in sent if it.block == str(block.number)]
        began = min(it.start_ms for it in mine)
        expected += [(it.start_ms - began + it.elapsed_ms, it.elapsed_ms, not it.ok) for it in mine]
    got = zip(found.seconds * 1000, found.elapsed_ms, found.failed, strict=True)
    assert sorted((round(a), b, c) for a, b, c in got) == sorted(expected)
    assert (found.arm, found.rounds, found.of_rounds) == ("three servers", 3, 3)
    assert (np.diff(found.seconds) >= 0).all()


def test_too_many_dots_are_cut_to_whole_rounds_and_the_chart_says_so(tmp_path):
    cell = replace(study_jtl.CELLS[2], users=10, each=100)
    blocks = study_jtl.design((cell,), rounds=4)
    (found,) = pi_series(study_jtl.write(tmp_path, study_jtl.load(blocks, mean_ms=10)), blocks)
    assert len(found.seconds) == MOST_ANSWERS == 3 * 10 * 100
    assert (found.rounds, found.of_rounds) == (3, 4)
    (chart,) = charts.answers([found])
    assert chart.summary.startswith("3,000 answers of 3 of 4 rounds laid over each other; ")


def test_a_run_without_blocks_in_its_samples_is_refused(tmp_path):
    blocks = study_jtl.design()
    jtl = study_jtl.write(tmp_path, study_jtl.load(blocks))
    jtl.write_text(jtl.read_text().replace('"block"', '"other"', 1))
    with pytest.raises(JtlError, match="no column block"):
        pi_series(jtl, blocks)
