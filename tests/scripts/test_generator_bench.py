"""scripts/dev/bench generator, of a few requests: that it counts, not what it counts."""

import re
import sys

import pytest

from support import ROOT, run

BENCH = (sys.executable, "-m", "benchmarks.generator")
ROW = re.compile(
    r"^\| (\w+) \| (-?[\d.]+) ms \((-?[\d.]+) to (-?[\d.]+)\) \| (-?[\d.]+) \|$", re.MULTILINE
)


@pytest.mark.long
def test_a_request_costs_cpu_and_no_line_of_the_log_whatever_its_thread():
    few = ("--rounds", "1", "--rate", "40", "--requests", "40")
    done = run(*BENCH, "compare", "stress", *few, cwd=ROOT / "scripts" / "dev")
    assert done.returncode == 0, done.stderr
    rows = {name: numbers for name, *numbers in ROW.findall(done.stdout)}
    assert set(rows) == {"compare", "stress"}
    for middle, least, most, lines in rows.values():
        assert middle == least == most
        assert abs(float(lines)) < 0.5


def test_a_plan_that_is_not_there_is_refused():
    done = run(*BENCH, "sale", cwd=ROOT / "scripts" / "dev")
    assert done.returncode == 2
    assert "no such plan: sale; there are check, compare" in done.stderr
