"""Runs that are exported to a real VictoriaMetrics: its counts are those of the samples, and its
quantiles those of the nearest rank."""

import math
from collections import Counter

import pytest

import support
from e2e.bzt_run import LENIENT, WARMUP_S, Run, mostly_right, only, rows_of
from support import victoria_metrics
from tollgate.stats.exponential import FINEST

pytestmark = pytest.mark.services

LABELS = ("calculate", "sum", "search")
RATES = {f"{it}_rate": 8 for it in LABELS}
CONFIG = only(
    "fork", mostly_right(*LABELS), {"verdict": LENIENT}, warmup=WARMUP_S, measured=20, **RATES
)
RESULTS = {"true": "ok", "false": "failed"}
#: Of each series the newest value; the points of a run lie at most so far back.
COUNTS = (
    "sum by (tollgate_label, tollgate_result) "
    '(last_over_time(tollgate_requests_total{tollgate_kind="request"}[1h]))'
)
HISTOGRAMS = COUNTS.replace("requests_total", "service_time_seconds_count")
QUANTILES = (
    "histogram_quantile({p}, sum by (tollgate_label, vmrange) "
    '(last_over_time(tollgate_service_time_seconds_bucket{{tollgate_kind="request"}}[1h])))'
)
#: Of the nearest rank: a bucket's width, within which the store interpolates, and the four digits
#: that it keeps of a bucket's ends.
WIDTH = 2.0 ** (2.0**-FINEST) * 1.001


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    return victoria_metrics.build(tmp_path_factory.mktemp("victoria-metrics"))


@pytest.fixture
def store(command, tmp_path):
    with victoria_metrics.running(command, tmp_path) as made:
        yield made


@pytest.fixture
def variables(store):
    endpoint = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{store.url}/v1/metrics"}
    return {**endpoint, "OTEL_METRIC_EXPORT_INTERVAL": "1000"}


def at_least_one(values):
    """Without the labels of which none has failed, which a run says as well."""
    return {key: value for key, value in values.items() if value}


def assert_stored(store, rows):
    """Fails unless each label and result has as many requests as rows, and as many in the histogram
    of service times; and unless each quantile that at least ten times exceed lies within a bucket's
    width of the nearest rank."""
    counted = Counter((it["label"], RESULTS[it["success"]]) for it in rows)
    assert at_least_one(store.values(COUNTS)) == counted
    assert at_least_one(store.values(HISTOGRAMS)) == counted
    deviations = []
    for p in (0.5, 0.9, 0.95, 0.99):
        found = store.values(QUANTILES.format(p=p))
        for label in LABELS:
            times = sorted(int(it["elapsed"]) for it in rows if it["label"] == label)
            if len(times) * (1 - p) < 10:
                continue
            nearest = times[math.ceil(len(times) * p) - 1] / 1000
            assert nearest / WIDTH <= found[label,] <= nearest * WIDTH, (label, p)
            deviations.append(abs(found[label,] - nearest) / (nearest or 1))
    assert deviations
    print(f"{len(rows)} rows, {len(deviations)} quantiles, {max(deviations):.2%} apart at most")


def test_the_counts_of_a_run_are_those_of_its_samples(tmp_path, store, variables):
    ended = Run(tmp_path, config=CONFIG, **variables).end()
    rows = rows_of(ended.folder / "kpi.jtl")
    assert ended.execution["exported"] == {"samples": len(rows), "of": len(rows)}
    assert_stored(store, rows)


def test_a_store_that_is_killed_and_comes_back_has_all_of_it(tmp_path, store, variables):
    run = Run(tmp_path, config=CONFIG, **variables)
    support.wait_until(lambda: run.folder.joinpath("kpi.jtl").exists(), "it measures")
    run.until("requests read")
    store.kill()
    store.start()
    ended = run.end()
    rows = rows_of(ended.folder / "kpi.jtl")
    assert ended.execution["exported"] == {"samples": len(rows), "of": len(rows)}
    assert_stored(store, rows)


def test_a_run_that_has_ended_is_sent_with_its_own_times(tmp_path, store):
    ended = Run(tmp_path, config=CONFIG).end()
    tollgate = support.ROOT / ".venv" / "bin" / "tollgate"
    done = support.run(tollgate, "export", ended.folder, "--otlp", store.url)
    rows = rows_of(ended.folder / "kpi.jtl")
    assert f"fork: exported {len(rows):,} of {len(rows):,} samples" in done.stdout
    assert_stored(store, rows)
