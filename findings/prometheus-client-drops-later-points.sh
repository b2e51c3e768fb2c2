#!/bin/sh
# prometheus_client 0.26.0, its parser of OpenMetrics: of a metric with several points, each with its
# timestamp, only the first sample of the second and later points is kept.
#
# Guessed: all samples. The specification (1.0, "MetricFamily") has such an example as a correct one.
# Seen, of a summary with a count and a sum at 100 s and at 200 s:
#
#   wait_seconds_count 1 at 100, wait_seconds_sum 2 at 100, wait_seconds_count 3 at 200
#
# Of a histogram the parser therefore says "+Inf bucket missing". promtool reads both.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install prometheus-client==0.26.0

cat >"$work/read.py" <<'PYTHON'
from prometheus_client.openmetrics.parser import text_string_to_metric_families

TEXT = """# TYPE wait_seconds summary
wait_seconds_count{shop="a"} 1 100
wait_seconds_sum{shop="a"} 2 100
wait_seconds_count{shop="a"} 3 200
wait_seconds_sum{shop="a"} 4 200
# EOF
"""
(family,) = text_string_to_metric_families(TEXT)
seen = [(sample.name, sample.value, float(sample.timestamp)) for sample in family.samples]
print(", ".join(f"{name} {value} at {at:.0f}" for name, value, at in seen))
first = [("wait_seconds_count", 1.0, 100.0), ("wait_seconds_sum", 2.0, 100.0)]
assert seen == [*first, ("wait_seconds_count", 3.0, 200.0)], seen
PYTHON
"$work/venv/bin/python" "$work/read.py"
