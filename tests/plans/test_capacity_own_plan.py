"""A search for the capacity of a plan of a user's own in a real JMeter."""

import logging
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

import support
from support import jmx_text as jmx
from support.http_server import Handler, serving
from support.jmeter_run import Arriving, idle_server, rows
from tollgate.base import records
from tollgate.capacity.answer import result
from tollgate.capacity.arrivals import END, NOTHING, read_arrivals, row
from tollgate.capacity.asked import limit_of
from tollgate.capacity.iterations import write_by_arrivals
from tollgate.capacity.model import CapacitySettings
from tollgate.capacity.record import CapacityRecord, arrivals_path, read_record, record_path
from tollgate.capacity.running import Search
from tollgate.capacity.trials import gather
from tollgate.samples.growing import Growing
from tollgate.samples.store import open_store

NAME = "shop"
#: A server that answers one request after the other, and not faster than this.
SERVES_S, REQUESTS = 0.015, 2
LIMITS = ("p95>250ms", "fail>5%")
SHORT = {"trial_s": 3.0, "bracket_s": 2.0, "holdout_s": 5.0, "lead_s": 0.5, "drain_s": 0.5}


class Shop(Handler):
    def respond(self):
        action, visitor = self.path.strip("/").split("/")
        with self.server.lock:
            time.sleep(SERVES_S)
            self.server.asked.append((action, visitor))
        self.answer(404 if visitor == "nobody" else 200, f"{action} for {visitor}")


def started(folder, plan, **properties):
    """What a pass is, and a JMeter that runs a copy beside the plan's own files."""
    copy = folder / "copy" / "shop.jmx"
    copy.parent.mkdir()
    found = write_by_arrivals(plan, "rate", copy, {}, (NOTHING, END))
    given = {"threads": 40, "sample_variables": "TESTSTART.MS,trial,arrival,due"}
    # As Taurus asks for.
    given |= {"jmeter.save.saveservice.idle_time": "true"}
    given |= {"jmeter.save.saveservice.subresults": "false"}
    at = folder, copy, plan.parent, arrivals_path(folder, NAME)
    return found, Arriving(*at, **given | properties)


def searched(folder, plan, shop, nothing):
    """A search to its end; what it needs to know of bzt's executor is made up."""
    found, jmeter = started(folder, plan, port=shop, nothing_port=nothing)
    process = jmeter.process
    limits = tuple(limit_of(each) for each in LIMITS)
    settings = CapacitySettings(limits, budget_s=60.0, seed=5, **SHORT)
    record = CapacityRecord(settings, LIMITS, (found.name,), passes=True)
    records.write(record_path(folder, NAME), record)
    known = {"properties": {"threads": 40}, "label": NAME, "kpi_jtl": str(jmeter.jtl)}
    known |= {"process": process, "is_over": False, "stop_now": process.kill}
    executor = SimpleNamespace(**known)
    support.wait_until(jmeter.jtl.exists, "JMeter writes samples")
    log = logging.getLogger("capacity")
    search = Search(executor, folder, record, Growing(jmeter.jtl), log, iteration=found)
    while process.poll() is None:
        search.go_on(time.time())
        time.sleep(0.05)
    return search


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder, theirs = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("theirs")
    plan = theirs / "shop.jmx"
    plan.write_text(Path(__file__).with_name("own-rate.jmx").read_text())
    (theirs / "visitors.csv").write_text("".join(f"v{number}\n" for number in range(7)))
    with pytest.MonkeyPatch.context() as patched:
        # How much JMeter can send is not what is tested, and takes all of the machine.
        patched.setattr("tollgate.capacity.search.CEILING_MOST", 400.0)
        with serving(Shop, asked=[]) as shop, idle_server() as nothing:
            search = searched(folder, plan, shop.server_port, nothing)
    with open_store(folder / "kpi.jtl") as store:
        judged = gather(folder, NAME, store)
    known = {"folder": folder, "search": search, "judged": judged, "asked": shop.asked}
    return SimpleNamespace(**known, samples=rows(folder / "kpi.jtl"))


@pytest.mark.long
def test_each_pass_is_sent_once_and_is_one_sample(found):
    assert found.search.over_at is not None
    arrivals = read_arrivals(arrivals_path(found.folder, NAME))
    done = {it.trial: arrivals[it.trial] for it in read_record(found.folder, NAME).trials}
    drawn = [(number, it.first + at) for number, it in done.items() for at in range(len(it))]
    sent = [(int(it["trial"]), int(it["arrival"])) for it in found.samples]
    assert Counter(it for it in sent if it[0] in done) == Counter(drawn)
    assert {it["label"] for it in found.samples} == {NOTHING, "visit"}


@pytest.mark.long
def test_each_pass_has_a_row_of_the_plans_own_data(found):
    passes = [it for it in found.samples if it["label"] == "visit"]
    assert {it["failureMessage"] for it in passes if it["success"] == "true"} == {""}
    browsed = Counter(visitor for action, visitor in found.asked if action == "browse")
    assert browsed.total() == len(passes)
    assert set(browsed) == {f"v{number}" for number in range(7)}
    assert max(browsed.values()) - min(browsed.values()) <= 1


@pytest.mark.long
def test_a_sample_begins_when_it_was_due_and_leaves_out_the_pauses(found):
    whole = [it for it in found.samples if it["label"] == "visit" and it["success"] == "true"]
    # JMeter's clock of samples may be a millisecond or two behind.
    assert min(int(it["timeStamp"]) - int(it["due"]) for it in whole) >= -2
    assert min(int(it["elapsed"]) for it in whole) >= 1000 * SERVES_S * REQUESTS - 2
    assert min(int(it["IdleTime"]) for it in whole) >= 190


@pytest.mark.long
def test_a_pass_is_no_faster_than_its_requests(found):
    assert found.judged.trials == tuple(found.search.trials)
    settings = found.search.record.settings
    answer = result(settings, found.judged.ceiling, found.judged.trials)
    highest = 1 / (SERVES_S * REQUESTS)
    assert answer.status in ("found", "open", "generator")
    assert answer.last_pass <= highest * 1.5
    assert answer.low is None or answer.low < 1.1 * highest


PREPARES = jmx.sampler("prepare", HTTPSampler__path="/prepare/${visitor}")
ONCE = {"kind": "SetupThreadGroup", "threads": 1, "duration": None, "extra": jmx.main_loop(1)}
BEFORE = jmx.loadable(jmx.group(PREPARES, name="before", **ONCE))
PASSES = 12


def test_a_setup_group_runs_once_and_an_error_ends_its_pass_alone(tmp_path):
    plan, run = tmp_path / "theirs" / "shop.jmx", tmp_path / "run"
    plan.parent.mkdir()
    run.mkdir()
    text = Path(__file__).with_name("own-rate.jmx").read_text()
    plan.write_text(text.replace("<ThreadGroup ", f"{BEFORE}<ThreadGroup ", 1))
    (plan.parent / "visitors.csv").write_text("first\n" + "nobody\nsomebody\n" * PASSES)
    with serving(Shop, asked=[]) as shop:
        found, jmeter = started(run, plan, threads=1, port=shop.server_port)
        with arrivals_path(run, NAME).open("a") as file:
            file.write("".join(row(f"1,{at},0,{found.name},") for at in range(PASSES)))
            file.write(row(f"2,{PASSES},0,{END},"))
        samples = jmeter.samples()
    passes = [("browse", "nobody"), ("browse", "somebody"), ("buy", "somebody")]
    assert shop.asked == [("prepare", "first"), *passes * (PASSES // 2)]
    sent = [("visit", str(at), str(at % 2 == 1).lower()) for at in range(PASSES)]
    seen = [(it["label"], it["arrival"], it["success"]) for it in samples]
    assert seen == [("prepare", "null", "true"), *sent]
