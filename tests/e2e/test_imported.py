"""A plan of somebody's own as a service, whose controllers and Counter keep their state by user: in
a kind in which each arrival is a new one, the service gets the plan's mix."""

from collections import Counter

import pytest

from e2e.bzt_run import LENIENT, Run
from support import jmx_text as jmx
from support.http_server import Handler, serving
from support.project_copy import copy_project, new_target

FORECAST = "hour,tps\n" + "".join(f"{hour},15\n" for hour in range(24))
ARRIVALS = 180
MIX = jmx.element(
    "InterleaveControl",
    "mix",
    [jmx.get(it, f"/{it}") for it in "abc"],
    extra='<intProp name="InterleaveControl.style">1</intProp>',
)
PERCENT = (
    '<intProp name="ThroughputController.style">1</intProp>'
    '<boolProp name="ThroughputController.perThread">true</boolProp><FloatProperty><name>'
    "ThroughputController.percentThroughput</name><value>30</value></FloatProperty>"
)
COOKIE = (
    '<collectionProp name="CookieManager.cookies"><elementProp name="tenant" elementType="Cookie">'
    '<stringProp name="Cookie.value">acme</stringProp><stringProp name="Cookie.domain">127.0.0.1'
    "</stringProp></elementProp></collectionProp>"
)
PLAN = jmx.loadable(
    jmx.plan(
        jmx.element("CookieManager", "cookies", extra=COOKIE),
        jmx.group(
            jmx.get("first", "/first?n=${n}"),
            jmx.counter("n", start=1, incr=1, per_user="true"),
            MIX,
            jmx.element(
                "ThroughputController", "rare ones", [jmx.get("rare", "/rare")], extra=PERCENT
            ),
            name="browse",
        ),
        jmx.group(jmx.get("off", "/off"), name="admins", threads="${__P(admins,0)}"),
    )
)


class Shop(Handler):
    def respond(self):
        if "Tollgate" not in self.headers["User-Agent"]:
            self.server.asked.append(self.path)
        is_known = "tenant=acme" in (self.headers["Cookie"] or "")
        self.answer(200 if is_known else 401, "ok", Set_Cookie="seen=1")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(the run, what the service was asked, what was said when the plan was read)."""
    folder = tmp_path_factory.mktemp("imported")
    suite = copy_project(folder / "suite")
    (folder / "forecast.csv").write_text(FORECAST)
    with serving(Shop, asked=[]) as server:
        port = str(server.server_port)
        (folder / "plan.jmx").write_text(PLAN.replace("${__P(port)}", port))
        url = f"http://127.0.0.1:{port}"
        made = new_target(suite, "own", "--from", folder / "plan.jmx", "--url", url)
        assert made.returncode == 0, made.stderr
        options = (f"modules.load.forecast={folder / 'forecast.csv'}",)
        config = {"modules": {"verdict": LENIENT}}
        given = {"config": config, "alias": "own stress", "root": suite, "SCALE": "7200"}
        yield Run(folder, *options, **given).end(), Counter(server.asked), made.stdout


def test_arrivals_have_the_mix_of_the_plan(ran):
    run, asked, _ = ran
    counts = Counter(it.partition("?")[0].strip("/") for it in asked.elements())
    assert counts["first"] > 0.9 * ARRIVALS, run.output
    for name in "abc":
        assert abs(counts[name] - counts["first"] / 3) <= 4, counts
    assert abs(counts["rare"] - 0.3 * counts["first"]) <= 4, counts
    assert set(counts) == {"first", "a", "b", "c", "rare"}
    assert "was sent" not in run.reasons()


def test_a_counter_counts_all_arrivals(ran):
    _, asked, _ = ran
    numbers = [it for it in asked if it.startswith("/first")]
    assert len(numbers) > 0.9 * ARRIVALS
    assert {asked[it] for it in numbers} == {1}


def test_the_plans_own_cookie_is_sent_with_those_of_the_service(ran):
    assert ran[0].all_answered_right, ran[0].output


def test_what_was_changed_and_left_out_is_told(ran):
    said = " ".join(ran[2].split())
    for words in (
        "'mix' counts for all arrivals",
        "'rare ones' counts for all",
        "'admins': it has",
    ):
        assert words in said
