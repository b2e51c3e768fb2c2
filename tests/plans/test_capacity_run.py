"""plans/capacity.jmx in a real JMeter: it sends what is appended to its file, once and when it is
due."""

import csv
import subprocess
import time
from collections import Counter

import pytest

import support
from tollgate.capacity.arrivals import HEADER, row
from tollgate.targets.tools import IDLE_SERVER

PLAN = support.PLANS / "capacity.jmx"
#: Parts of the file, each appended once all of the one before has its answer; then two at once.
PARTS, ROWS = 4, 300
PATIENCE_S = 120


@pytest.fixture(scope="module")
def idle():
    """The port of a server that does nothing."""
    command = ["node", str(IDLE_SERVER)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0


def start(folder, port, **properties):
    """A JMeter that waits for arrivals."""
    (folder / "arrivals.csv").write_text(row(HEADER))
    given = {
        "arrivals": folder / "arrivals.csv",
        "origin": 0,
        "nothing_port": port,
        "sample_variables": "trial,arrival,due",
        "jmeter.save.saveservice.autoflush": "true",
        **properties,
    }
    words = [f"-J{name}={value}" for name, value in given.items()]
    files = ["-l", str(folder / "out.jtl"), "-j", str(folder / "jmeter.log")]
    return subprocess.Popen(
        [str(support.JMETER), "-n", "-t", str(PLAN), *files, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def until(is_true):
    deadline = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def answered(folder):
    jtl = folder / "out.jtl"
    return jtl.read_bytes().count(b"\n") - 1 if jtl.exists() else -1


@pytest.fixture(scope="module")
def samples(idle, tmp_path_factory):
    """Of a run whose file grew."""
    folder = tmp_path_factory.mktemp("grown")
    process = start(folder, idle)
    until(lambda: answered(folder) == 0)
    for part in range(PARTS):
        due = round(1000 * time.time()) + 700
        rows = [row(f"{part},{part * ROWS + at},{due + 3 * at},nothing,") for at in range(ROWS)]
        with (folder / "arrivals.csv").open("a") as file:
            file.write("".join(rows[: ROWS // 2]))
            file.flush()
            file.write("".join(rows[ROWS // 2 :]))
        until(lambda done=(part + 1) * ROWS: answered(folder) >= done)
    with (folder / "arrivals.csv").open("a") as file:
        file.write(row(f"{PARTS},{PARTS * ROWS},0,end,"))
    assert process.wait(PATIENCE_S) == 0
    assert " ERROR " not in (folder / "jmeter.log").read_text()
    with (folder / "out.jtl").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_each_row_that_is_appended_is_sent_once(samples):
    numbers = Counter(int(it["arrival"]) for it in samples)
    assert numbers == Counter(range(PARTS * ROWS))


def test_every_answer_of_the_server_that_does_nothing_is_right(samples):
    assert {(it["label"], it["success"]) for it in samples} == {("nothing", "true")}


def test_nothing_is_sent_before_it_is_due(samples):
    # JMeter's clock of samples may be a millisecond or two behind.
    assert min(int(it["timeStamp"]) - int(it["due"]) for it in samples) >= -2


def test_a_plan_whose_arrivals_nobody_writes_ends_by_itself(idle, tmp_path):
    process = start(tmp_path, idle, patience=2)
    assert process.wait(PATIENCE_S) == 0
    assert answered(tmp_path) == 0
