"""The OpenMetrics text of archived runs in a real Prometheus: counts are those of the samples, and
quantiles within a bucket of the nearest rank."""

import json
import math

import pytest

from support import prometheus
from support.archived import unpacked
from support.command import tollgate
from support.growing_jtl import GrowingRun

pytestmark = [pytest.mark.services, pytest.mark.needs("apt-get")]

#: How many times its lower end a bucket's upper end is, with the digits that its name keeps.
WIDTH = 2.0 ** (1 / 16) * 1.0001
TIMES = "tollgate_service_time_seconds_bucket"


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    return prometheus.commands(tmp_path_factory.mktemp("prometheus"))


@pytest.mark.parametrize("name", ["check-pass", "compare-pass", "plan", "load", "soak"])
def test_counts_and_quantiles_are_those_of_the_samples(tmp_path, tools, name):
    folder, file = unpacked(name, tmp_path / name), tmp_path / "run.om"
    assert tollgate("export", folder, "--openmetrics", file)[0] == 0
    run = GrowingRun(unpacked(name, tmp_path / "rows"))
    rows = [row for place, _ in enumerate(run.of) for row in run.rows(place)]
    at_s = max(int(it["timeStamp"]) + int(it["elapsed"]) for it in rows) / 1000 + 1
    deviations = []
    with prometheus.holding(tools, tmp_path, file) as store:
        identity = f'{{job="tollgate",instance="{name}"}}'
        assert store.value(f"sum(tollgate_requests_total{identity})", at_s) == len(rows)
        assert store.value(f"count(target_info{identity})", at_s) == 1
        for place, of in enumerate(run.of):
            for (label,), times_s in run.times_s(place, "label").items():
                which = f"tollgate_label={json.dumps(label)},tollgate_execution={of.planned.name!r}"
                for p in (0.5, 0.9, 0.95, 0.99, 0.999):
                    if len(times_s) * (1 - p) < 10:
                        continue
                    query = f"histogram_quantile({p}, sum by (le) ({TIMES}{{{which}}}))"
                    found, nearest = store.value(query, at_s), nearest_rank(times_s, p)
                    assert nearest / WIDTH <= found <= nearest * WIDTH, (label, p)
                    deviations.append(abs(found - nearest) / (nearest or 1))
    print(f"{name}: {len(deviations)} quantiles, {max(deviations):.2%} apart at most")


def nearest_rank(times_s, p):
    return times_s[math.ceil(len(times_s) * p) - 1]
