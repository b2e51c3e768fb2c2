"""`traceparent` on each request: whose own it is, and what a service is told by real JMeter."""

import itertools
import re
import time
from collections import defaultdict

import pytest
from opentelemetry.trace.propagation import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from support import jmx_text as jmx
from support.http_server import Handler, serving
from support.jmeter_run import Run
from tollgate.plan.traceparent import VARIABLE, send
from tollgate.samples.slowest import slowest, trace_id
from tollgate.samples.store import open_store

ID = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
PAGE = b'<img src="/one.png"><img src="/two.png">'


def flag(name, value):
    return f'<boolProp name="{name}">{value}</boolProp>'


def getting(path, *flags):
    written = "".join(flag(f"HTTPSampler.{each}", "true") for each in flags)
    return jmx.get(path[1:], path).replace("</HTTP", f"{written}</HTTP", 1)


def transaction(name, parent, *children):
    extra = flag("TransactionController.parent", parent)
    return jmx.element("TransactionController", name, children, extra=extra)


class Service(Handler):
    """Keeps what each request told of its trace, and takes as long as its path says, in ms."""

    def respond(self):
        with self.server.lock:
            self.server.seen[self.path] += self.headers.get_all("traceparent", [None])
        time.sleep(int((re.findall(r"\d+", self.path) or ["0"])[0]) / 1000)
        if self.path == "/moved":
            self.answer(302, Location="/new")
        else:
            self.answer(200, PAGE if self.path == "/page" else b"ok", Content_Type="text/html")


@pytest.fixture
def sent(tmp_path):
    """What a service is told, by paths, and the JTL of a plan whose only thread runs twice."""

    def run(*children, flags="00"):
        plan = tmp_path / "plan.jmx"
        inside = jmx.looping(*children, loops=2, threads=1)
        plan.write_text(jmx.loadable(jmx.plan(inside)))
        send(plan, plan, {}, flags)
        columns = {"sample_variables": f"TESTSTART.MS,{VARIABLE}"}
        columns["jmeter.save.saveservice.url"] = "true"
        with serving(Service, seen=defaultdict(list)) as server:
            Run(plan, tmp_path, tmp_path, port=server.server_address[1], **columns)
            return server.seen, tmp_path / "out.jtl"

    return run


def context(header):
    """What a header says by OpenTelemetry's own reader."""
    read = TraceContextTextMapPropagator().extract({"traceparent": header})
    return get_current_span(read).get_span_context()


def traces(jtl):
    """The trace ids of the rows of each label, as far as they are known."""
    with open_store(jtl) as store:
        rows = store.rows("SELECT label, test_start, trace FROM samples")
    found = defaultdict(list)
    for label, *of in rows:
        found[label].append(trace_id(*of))
    return found


def test_each_request_has_a_trace_of_its_own_and_the_slowest_are_those_that_the_service_saw(sent):
    paths = ["/180", "/40", "/240", "/5"]
    seen, jtl = sent(*map(getting, paths), jmx.script("no request", "return 1"))
    headers = [header for path in paths for header in seen[path]]
    for header in headers:
        read = context(header)
        assert read.is_valid
        assert (read.is_remote, f"{read.trace_flags:02x}", header[:3]) == (True, "00", "00-")
    ids = {path: [f"{context(it).trace_id:032x}" for it in seen[path]] for path in paths}
    assert len({*itertools.chain(*ids.values())}) == len(headers) == 8
    with open_store(jtl) as store:
        found = slowest(store, 0, 9e15, ())
    own = [request for request in found if request.label != "no request"]
    assert len(own) == 8
    assert found == tuple(sorted(found, key=lambda request: -request.elapsed_ms))
    for request in own:
        assert request.trace in ids[f"/{request.label}"]
        assert request.elapsed_ms >= int(request.label)
    assert {request.trace for request in found if request not in own} == {""}


def test_the_hops_of_a_redirect_and_the_resources_of_a_page_tell_the_trace_of_their_sampler(sent):
    page = getting("/page", "image_parser", "concurrentDwn")
    own = transaction("beside", "false", getting("/last"))
    seen, jtl = sent(getting("/moved", "follow_redirects"), page, own, flags="01")
    assert {header[-3:] for headers in seen.values() for header in headers} == {"-01"}
    assert seen["/moved"] == seen["/new"]
    assert seen["/page"] == seen["/one.png"] == seen["/two.png"]
    of_rows = traces(jtl)
    for label, path in {"moved": "/moved", "moved-0": "/moved", "moved-1": "/new"}.items():
        assert of_rows[label] == [f"{context(it).trace_id:032x}" for it in seen[path]]
    assert of_rows["page"] == of_rows["page-1"] == of_rows["page-2"]
    assert of_rows["last"] == [f"{context(it).trace_id:032x}" for it in seen["/last"]]
    assert of_rows["beside"] == ["", ""]


def test_requests_that_become_one_sample_have_a_trace_each_that_no_row_claims(sent):
    seen, jtl = sent(transaction("visit", "true", getting("/a"), getting("/b")), getting("/c"))
    assert len({context(it).trace_id for its in seen.values() for it in its}) == 6
    assert {*itertools.chain(*traces(jtl).values())} == {""}


def header_of(name):
    return jmx.headers(**{name: ID})


OWN = {
    "at a request": jmx.looping(jmx.sampler("a", header_of("Traceparent"))),
    "by a script": jmx.looping(jmx.script("a", "sampler.headerManager.add('traceParent', id)")),
    "by a file": jmx.element("JSR223PreProcessor", "a", filename="own.groovy"),
    "in an include": jmx.include("own.jmx"),
}


@pytest.mark.parametrize("where", OWN)
def test_a_plan_that_sends_a_header_of_its_own_stays_as_it_is(tmp_path, where):
    plan = tmp_path / "plan.jmx"
    (tmp_path / "own.groovy").write_text("headers.add('traceparent', id)")
    within = header_of("traceparent")
    (tmp_path / "own.jmx").write_text(jmx.document(jmx.fragment(jmx.sampler("a", within))))
    written = jmx.plan(OWN[where])
    plan.write_text(written)
    assert not send(plan, plan, {}, "00")
    assert plan.read_text() == written
