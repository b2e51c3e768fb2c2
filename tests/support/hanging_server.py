"""A server that answers for a while and then never again, and plans that ask it."""

import threading
import time
from contextlib import contextmanager

from support.http_server import Handler, serving

PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="hanging"/><hashTree>
{group}<hashTree>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="home">
  <elementProp name="HTTPsampler.Arguments" elementType="Arguments">
    <collectionProp name="Arguments.arguments"/>
  </elementProp>
  <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
  <stringProp name="HTTPSampler.port">{port}</stringProp>
  <stringProp name="HTTPSampler.protocol">http</stringProp>
  <stringProp name="HTTPSampler.path">/</stringProp>
  <stringProp name="HTTPSampler.method">GET</stringProp>
  <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
  <stringProp name="HTTPSampler.response_timeout">{timeout}</stringProp>
</HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"""
#: Three threads that ask one after another for ever.
CLOSED = """<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="visitors">
  <stringProp name="ThreadGroup.num_threads">3</stringProp>
  <stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp>
    <stringProp name="LoopController.loops">-1</stringProp>
  </elementProp>
</ThreadGroup>"""
#: Ten arrivals a second for two minutes.
OPEN = """<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui"
 testclass="OpenModelThreadGroup" testname="arriving">
  <elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <stringProp name="OpenModelThreadGroup.schedule">rate(10/s) random_arrivals(2 min)</stringProp>
  <stringProp name="OpenModelThreadGroup.random_seed">7</stringProp>
</OpenModelThreadGroup>"""


def write_plan(folder, port, group=CLOSED, timeout_ms=""):
    """A plan whose threads ask the server on this port, by default without a response timeout."""
    plan = folder / "hanging.jmx"
    plan.write_text(PLAN.format(group=group, port=port, timeout=timeout_ms))
    return plan


class Hanging(Handler):
    """Takes 20 ms for an answer."""

    def respond(self):
        server = self.server
        with server.lock:
            server.asked_at = server.asked_at or time.monotonic()
        hangs = time.monotonic() - server.asked_at >= server.answers_s
        if server.ends.wait(None if hangs else 0.02):
            return
        self.answer(body="ok")


@contextmanager
def hanging_server(answers_s):
    """Its port; it answers for so many seconds from the first request on."""
    ends = threading.Event()
    with serving(Hanging, ends=ends, asked_at=None, answers_s=answers_s) as server:
        try:
            yield server.server_port
        finally:
            ends.set()
