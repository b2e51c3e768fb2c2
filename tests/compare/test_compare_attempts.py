"""A run that is INCONCLUSIVE and repeated errs no more often than a single one may.

The worst case: one metric alone has the whole error, and noise of each side that lasts for seconds
leaves most runs INCONCLUSIVE, so that most are repeated.
"""

from dataclasses import replace

import numpy as np
import pytest

from support.compared import SHORT, compared, judged
from tollgate.compare.model import FAIL, INCONCLUSIVE, PASS

RUNS, SECONDS, EFFECT = 300, 240, 0.05
ONE = replace(SHORT, gates=("p50",), labels=("search",), fail_fast=True)
HALF = replace(ONE, false_alarm=ONE.false_alarm / 2, miss=ONE.miss / 2)
NOISY = {"rate": 10.0, "own": 0.04}


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("ratio", "wrong", "most"),
    [(1.0, FAIL, ONE.false_alarm), (1 + EFFECT, PASS, ONE.miss)],
    ids=["unchanged", "slower by the effect"],
)
def test_a_repeated_run_with_half_of_the_error_each_keeps_the_promise(
    ratio, wrong, most, repetitions
):
    rng, runs = np.random.default_rng(43), repetitions(RUNS)
    counts = dict.fromkeys(("once", "twice", "twice, half each"), 0)
    open_then = 0
    for _ in runs:
        both = [[compared(rng, SECONDS, ratio=ratio, **NOISY)] for _ in range(2)]
        whole, half = ([judged(it, of).verdict for it in both] for of in (ONE, HALF))
        open_then += whole[0] == INCONCLUSIVE
        counts["once"] += whole[0] == wrong
        counts["twice"] += last(whole) == wrong
        counts["twice, half each"] += last(half) == wrong
    # Those of docs/policy.md, which `scripts/test` shows of this file with -rP.
    shares = ", ".join(f"{name} {100 * it / runs.made:.1f} %" for name, it in counts.items())
    print(f"{wrong}, {runs.made} runs, of which {open_then} INCONCLUSIVE at once: {shares}")
    assert counts["twice, half each"] <= runs.most(most)


def last(verdicts):
    """That of the second run where the first could not tell."""
    return verdicts[verdicts[0] == INCONCLUSIVE]
