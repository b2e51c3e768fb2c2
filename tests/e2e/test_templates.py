"""Three of JMeter's own templates: each becomes a service, which is checked and compared."""

from pathlib import Path

import pytest

from e2e.bzt_run import LENIENT, Run
from e2e.comparing import SHORT
from support.http_server import Handler, serving
from support.project_copy import copy_project, new_target
from tollgate.install.tools import jmeter_home

#: The samplers of each that go to its service.
LABELS = {
    "build-web-test-plan": {"Home Page", "Page Returning 404"},
    "build-adv-web-test-plan": {"Home Page", "Changes"},
    "build-webservice-test-plan": {"Soap Request"},
}
#: Of the checks, a push makes that of the template with most in it.
PUSHED = "build-adv-web-test-plan"
CHECKED = [it if it == PUSHED else pytest.param(it, marks=pytest.mark.long) for it in LABELS]
#: What the templates' assertions want to see, by the path.
ANSWERS = {
    "/": "<title>Apache JMeter - Apache JMeter&trade;</title><h1>Example Domain</h1>",
    "/changes.html": "<title>Apache JMeter - Changes</title>",
    "/WeatherWS/Weather.asmx": "</GetCityForecastByZIPResult>",
}
CHECK = {
    "modules": {
        "verdict": LENIENT,
        "stop-when-decided": {"budget": "off"},
        "jmeter": {"properties": {"warmup": 1, "measured": 4}},
    }
}
#: Of errors some dozens of answers tell enough.
QUICK = (*SHORT, "modules.compare.gates=errors", "modules.jmeter.properties.period=250")


class Pages(Handler):
    def respond(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        found = ANSWERS.get(self.path)
        self.answer(200 if found else 404, found or "")


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("templates") / "suite")


@pytest.mark.parametrize("name", CHECKED)
def test_a_template_is_checked(suite, tmp_path, name):
    service = f"{name.removesuffix('-test-plan')}-check"
    with serving(Pages) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        template = Path(jmeter_home()) / "bin" / "templates" / f"{name}.jmx"
        made = new_target(suite, service, "--from", template, "--url", url)
        assert made.returncode == 0, made.stderr
        ran = Run(tmp_path, config=CHECK, alias=service, root=suite).end_cleanly()
    assert {it["label"] for it in ran.samples} == LABELS[name], ran.output
    assert ran.all_answered_right, ran.output


@pytest.mark.long
@pytest.mark.parametrize("name", LABELS)
def test_a_template_is_compared(suite, tmp_path, name):
    service = f"{name.removesuffix('-test-plan')}-compared"
    with serving(Pages) as base, serving(Pages) as head:
        urls = [f"http://127.0.0.1:{it.server_port}" for it in (base, head)]
        template = Path(jmeter_home()) / "bin" / "templates" / f"{name}.jmx"
        made = new_target(suite, service, "--from", template, "--url", urls[0])
        assert made.returncode == 0, made.stderr
        sides = dict(zip(("BASE_URL", "HEAD_URL"), urls, strict=True))
        ended = Run(tmp_path, *QUICK, alias=f"{service} compare", root=suite, **sides).end()
    assert ended.outcome[1] != "FAIL", ended.output
    assert ended.blamed <= {"generator", "machine"}, ended.output
    found = {it["label"] for it in ended.execution["comparison"]["findings"]}
    assert found >= LABELS[name]
