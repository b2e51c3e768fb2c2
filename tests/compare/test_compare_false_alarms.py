"""The promise that counts most: a candidate like its base fails in at most one run of a hundred."""

import numpy as np
import pytest
from scipy import stats

from support.compared import SHORT, compared, judged, runs, verdicts
from tollgate.compare.model import ERRORS, FAIL, PASS

SEQUENCES = 2000
#: The same with two labels.
PAIRS = 320
REGRESSIONS = 300
SERVICES = (
    *({}, {"common": 0.5, "memory": 0.9}, {"drift": 1.0}, {"stalls": 0.05}, {"median_ms": 2.0}),
    *({"own": 0.05}, {"sigma": 0.8}, {"failing": (0.01, 0.01)}),
)


@pytest.mark.statistics
def test_of_2000_sequences_of_looks_at_like_services_at_most_1_percent_fail(repetitions):
    rng, sequences = np.random.default_rng(20), repetitions(SEQUENCES)
    gates = [
        gate
        for service in SERVICES
        for gate in runs(rng, sequences.made // len(SERVICES), SHORT, **service)
    ]
    alarms = sum(gate.verdict == FAIL for gate in gates)
    assert alarms <= sequences.most(0.01), alarms
    # Nor are the boundaries so strict that nothing could ever cross them.
    assert alarms >= 1 or sequences.made < SEQUENCES


@pytest.mark.statistics
def test_two_labels_of_six_metrics_each_share_the_one_error(repetitions):
    """What gates by default are twelve hypotheses, of which tail and stalls have smaller shares."""
    rng, pairs = np.random.default_rng(24), repetitions(PAIRS)
    alarms = 0
    for number in pairs:
        noisy = SERVICES[number % len(SERVICES)]
        services = {"sum": noisy, "search": {"rate": 15.0, **noisy}}
        labels = [compared(rng, 240, label=name, **it) for name, it in services.items()]
        gate = judged(labels, SHORT)
        assert sum(each.gates for each in gate.findings) == 12
        alarms += gate.verdict == FAIL
    assert stats.binomtest(alarms, pairs.made, 0.01, alternative="greater").pvalue > 0.01, alarms


@pytest.mark.statistics
def test_of_300_regressions_of_5_percent_at_most_2_percent_pass(repetitions):
    made = repetitions(REGRESSIONS).made
    gates = runs(np.random.default_rng(21), made, SHORT, rate=30, ratio=1.05)
    for metric in ("p50", "p95"):
        passed = verdicts(gates, metric).count(PASS)
        assert stats.binomtest(passed, made, 0.02, alternative="greater").pvalue > 0.01, passed


def test_most_like_services_pass_in_a_short_time():
    gates = runs(np.random.default_rng(22), 40, SHORT, rate=60, sigma=0.2)
    assert sum(gate.verdict == PASS for gate in gates) >= 38
    assert verdicts(gates, ERRORS).count(PASS) >= 38
