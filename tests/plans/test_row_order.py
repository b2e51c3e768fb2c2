"""JMeter itself: when it writes a row, and what it writes as the code where no answer came."""

import csv
import socket

import numpy as np
import pytest

import support
from support import jmx_text as jmx
from support.jmeter_run import Run
from tollgate.plan.properties import ARGUMENTS
from tollgate.samples.order import step_back
from tollgate.stats.response_codes import NAMES, short_code

HELD = jmx.element("JSR223PostProcessor", scriptLanguage="groovy", script="sleep(1500)")


def asks(name, port, *children):
    props = {"domain": "127.0.0.1", "port": port, "path": "/", "response_timeout": 1600}
    props = {f"HTTPSampler__{key}": value for key, value in props.items()}
    return jmx.sampler(name, *children, **props)


def transaction(name, *children, parent):
    kind = f'<boolProp name="TransactionController.parent">{str(parent).lower()}</boolProp>'
    return jmx.element("TransactionController", name, children, extra=kind)


#: Of a user's own, which JMeter finds where it runs.
OTHERWISE = """
sampleresult.timestamp.start=false
jmeter.save.saveservice.default_delimiter=;
jmeter.save.saveservice.timestamp_format=yyyy/MM/dd HH:mm:ss.SSS
summariser.name=mine
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two thread groups: fast requests beside slow ones, of which one has a slow post-processor.
    Where they run, JMeter finds properties by which rows would be others."""
    folder = tmp_path_factory.mktemp("row-order")
    closed = support.free_port()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        slow = [
            asks("held", closed, HELD),
            transaction("parent", asks("inner", port), parent=True),
            transaction("sum", asks("refused", closed), asks("hangs", port), parent=False),
        ]
        quick = asks("quick", closed, jmx.constant_timer(100))
        groups = [
            jmx.group(*slow, name="slow", threads=3, duration=None, extra=jmx.main_loop(1)),
            jmx.group(quick, name="quick", threads=2, duration=None, extra=jmx.main_loop(50)),
        ]
        (folder / "plan.jmx").write_text(jmx.loadable(jmx.plan(*groups)))
        (folder / "user.properties").write_text(OTHERWISE)
        fixed = dict(it.removeprefix("-J").split("=", 1) for it in ARGUMENTS)
        return Run(folder / "plan.jmx", folder, folder, **fixed), folder / "out.jtl"


def test_no_thread_of_jmeters_goes_on_before_its_row_is_written(run):
    made, path = run
    # A subresult stands behind the whole and begins before its end.
    assert {"held", "quick", "parent", "inner", "sum", "hangs"} <= made.labels
    ends = [int(it["timeStamp"]) + int(it["elapsed"]) for it in made.samples]
    # The post-processor has held rows back, so that there is something to be mistaken about.
    assert max(np.maximum.accumulate(ends) - ends) > 1400
    assert step_back(path, ["parent"]) is None


def test_the_arguments_of_a_run_go_before_what_files_say_of_samples(run):
    made, _ = run
    by_thread = {}
    for row in sorted(made.samples, key=lambda it: int(it["timeStamp"])):
        if row["label"] in ("inner", "refused"):
            by_thread.setdefault(row["threadName"], []).append(row)
    for inner, refused in by_thread.values():
        # Of the time at which it ended this would be twice as late.
        assert int(inner["timeStamp"]) + int(inner["elapsed"]) <= int(refused["timeStamp"]) + 5
    assert len(by_thread) == 3
    assert "summary" not in made.done.stdout


def test_rows_that_a_set_back_clock_would_have_stamped_are_found(run, tmp_path):
    _, path = run
    with path.open(newline="") as lines:
        header, *rows = csv.reader(lines)
    middle = rows[len(rows) // 2][0]
    for row in rows:
        row[0] = str(int(row[0]) - 4000 * (row[0] >= middle))
    set_back = tmp_path / "kpi.jtl"
    with set_back.open("w", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows([header, *rows])
    assert step_back(set_back, ["parent"]).back_ms > 2000


def test_jmeters_codes_are_names_that_criteria_may_have(run):
    codes = {it["responseCode"] for it in run[0].samples if it["label"] in ("hangs", "quick")}
    assert codes == {
        "Non HTTP response code: java.net.SocketTimeoutException",
        "Non HTTP response code: org.apache.http.conn.HttpHostConnectException",
    }
    assert {short_code(code) for code in codes} <= NAMES
