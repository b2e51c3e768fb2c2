"""A plan of somebody's own that STOP_AFTER ends before its schedules do, in one run of JMeter."""

import re

import pytest

from e2e.bzt_run import Run
from support import jmx_text as jmx
from support.golden import FOLDER

pytestmark = pytest.mark.long

PACE = re.compile(r"<PreciseThroughputTimer .*?</PreciseThroughputTimer>", re.DOTALL)
SCHEDULE = re.compile(r"rate\(0\) .*?</stringProp>", re.DOTALL)
#: JMeter ends the threads that ask for it, and exits with 0.
NO_SUCH_FILE = jmx.element(
    *("CSVDataSet", "accounts"),
    **{"filename": "no-such-file-${__UUID}.csv", "variableNames": "account", "delimiter": ","},
    **{"recycle": "true", "stopThread": "false", "shareMode": "shareMode.all"},
)
NO_SUCH_FILE = jmx.loadable(NO_SUCH_FILE).removesuffix("<hashTree></hashTree>")
#: Holds on to 4 MB more in each of its turns.
HOLD = jmx.script("hold", 'vars.putObject("" + vars.iteration, new byte[4_000_000])')


def three_groups():
    """An arrival schedule and a timer's, each of 40 s, and a group whose threads end at once."""
    arriving = (FOLDER / "group-run.jmx").read_text()
    arriving = SCHEDULE.sub("rate(20/s) random_arrivals(40 s)</stringProp>", arriving)
    visitors = (FOLDER / "timer-run.jmx").read_text()
    visitors = visitors[visitors.index("<ThreadGroup ") : visitors.index("    </hashTree>\n  </")]
    visitors = visitors.replace('testname="nap"', 'testname="a visit"').replace(",10)", ",40)")
    members = visitors.replace("visitors", "members").replace("a visit", "log in")
    members = PACE.sub(NO_SUCH_FILE, members)
    return arriving.replace("<OpenModel", f"{visitors}{members}<OpenModel", 1)


def test_what_stop_after_kept_from_being_sent_is_no_fault_and_a_silent_group_is(tmp_path):
    (tmp_path / "theirs.jmx").write_text(three_groups())
    own = {"PLAN": str(tmp_path / "theirs.jmx"), "STOP_AFTER": "10s", "CRITERIA": "fail>60%"}
    # On a busy machine some of what is due before the end is not sent.
    ended = Run(tmp_path, "modules.verdict.missing-share=0.5", alias="plan", **own).end()
    assert ended.reasons() == (
        "INVALID plan: the thread group 'members' left no sample, and it had to send 'log in': "
        "see jmeter.log for why not"
    )
    execution = ended.execution
    assert any(line.startswith("the load was ended after ") for line in execution["warnings"])
    intended = {it["labels"][0]: it["intended"] for it in execution["schedules"]}
    assert set(intended) == {"nap", "a visit"}
    (recorded,) = ended.json("run.json")["executions"]
    told_s = recorded["stop_requested_at"]
    assert told_s <= recorded["load_ended_at"] < recorded["ended"]
    began_s = int(ended.samples[0]["TESTSTART.MS"]) / 1000
    assert max(intended.values()) < 40 * (told_s - began_s)


def test_a_jmeter_that_runs_out_of_memory_ends_and_says_so(tmp_path):
    filling = jmx.plan(jmx.looping(HOLD, threads=1, loops=50))
    (tmp_path / "theirs.jmx").write_text(jmx.loadable(filling))
    own = {"PLAN": str(tmp_path / "theirs.jmx"), "HEAP": "-Xmx64m"}
    ended = Run(tmp_path, alias="plan", **own).end()
    assert ended.outcome == (4, "INVALID")
    assert "JMeter exited with code 3: it ran out of memory, see jmeter.out" in ended.reasons()
    assert "OutOfMemoryError" in (ended.folder / "jmeter.out").read_text()
    warnings = ended.execution["warnings"]
    assert any(line.startswith("no criteria were stated") for line in warnings)
