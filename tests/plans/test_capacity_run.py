"""plans/capacity.jmx in a real JMeter: it sends what is appended to its file when it is due."""

import time
from collections import Counter

import pytest

from support import PATIENCE, PLANS, wait_until
from support.jmeter_run import Arriving, idle_server
from tollgate.capacity.arrivals import row

#: Parts of the file, each appended once all of the one before has its answer; then two at once.
PARTS, ROWS = 4, 300


@pytest.fixture(scope="module")
def idle():
    with idle_server() as port:
        yield port


def start(folder, port, **properties):
    """A JMeter that waits for arrivals."""
    arrivals = folder / "arrivals.csv"
    return Arriving(
        folder, PLANS / "capacity.jmx", folder, arrivals, nothing_port=port, **properties
    )


def answered(jmeter):
    return jmeter.jtl.read_bytes().count(b"\n") - 1 if jmeter.jtl.exists() else -1


@pytest.fixture(scope="module")
def samples(idle, tmp_path_factory):
    """Of a run whose file grew."""
    folder = tmp_path_factory.mktemp("grown")
    jmeter = start(folder, idle)
    wait_until(lambda: answered(jmeter) == 0, "JMeter writes samples")
    for part in range(PARTS):
        due = round(1000 * time.time()) + 700
        rows = [row(f"{part},{part * ROWS + at},{due + 3 * at},nothing,") for at in range(ROWS)]
        with (folder / "arrivals.csv").open("a") as file:
            file.write("".join(rows[: ROWS // 2]))
            file.flush()
            file.write("".join(rows[ROWS // 2 :]))
        wait_until(lambda done=(part + 1) * ROWS: answered(jmeter) >= done, "all is answered")
    with (folder / "arrivals.csv").open("a") as file:
        file.write(row(f"{PARTS},{PARTS * ROWS},0,end,"))
    return jmeter.samples()


def test_each_row_that_is_appended_is_sent_once_and_rightly_answered(samples):
    assert Counter(int(it["arrival"]) for it in samples) == Counter(range(PARTS * ROWS))
    assert {(it["label"], it["success"]) for it in samples} == {("nothing", "true")}


def test_nothing_is_sent_before_it_is_due(samples):
    # JMeter's clock of samples may be a millisecond or two behind.
    assert min(int(it["timeStamp"]) - int(it["due"]) for it in samples) >= -2


def test_a_plan_whose_arrivals_nobody_writes_ends_by_itself(idle, tmp_path):
    jmeter = start(tmp_path, idle, patience=2)
    assert jmeter.process.wait(PATIENCE) == 0
    assert answered(jmeter) == 0
