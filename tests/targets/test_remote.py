"""A service that runs already and is named by its URL."""

import logging
import re

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support import jmx_text as jmx
from tollgate.base.urls import Url
from tollgate.targets import probe
from tollgate.targets.scenarios import (
    Probe,
    remote_of,
    unread,
    wanted_probes,
    wanted_remotes,
)


def refusal(call, *arguments):
    with pytest.raises((TaurusConfigError, probe.ProbeError)) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("url", "protocol", "host", "port", "shown"),
    [
        ("http://127.0.0.1:8080", "http", "127.0.0.1", 8080, "http://127.0.0.1:8080"),
        ("http://localhost/", "http", "localhost", 80, "http://localhost:80"),
        ("https://shop.example", "https", "shop.example", 443, "https://shop.example:443"),
        ("http://[::1]:90", "http", "::1", 90, "http://[::1]:90"),
    ],
)
def test_a_url_tells_protocol_host_and_port(url, protocol, host, port, shown):
    remote = remote_of({"url": url}, "shop")
    assert (remote, remote.url) == (Url(protocol, host, port), shown)
    assert remote.properties == {"protocol": protocol, "host": host, "port": port}


@pytest.mark.parametrize(
    "url",
    [
        *("127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://a:b", "http://a:99999", ""),
        *("http://a/shop", "http://a?x=1", "http://a#x", "http://a:0", 8080),
        "http://me:secret@a",  # a password is not repeated
    ],
)
def test_what_is_no_such_url_is_refused_with_an_example(url):
    said = refusal(remote_of, {"url": url}, "shop")
    shown = "...@a" if "@" in str(url) else str(url)
    assert said.startswith(f"targets: scenario 'shop' has url {shown!r}: write protocol, host and")
    assert "http://127.0.0.1:8080" in said


def test_a_scenario_has_a_target_or_a_url_or_neither():
    assert remote_of({}, "shop") is None
    assert remote_of({"target": "fork"}, "shop") is None
    both = {"target": "fork", "url": "http://127.0.0.1:8080"}
    assert "has a `target` and a `url`" in refusal(remote_of, both, "shop")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(("127.0.0.1", True), ("127.8.9.1", True), ("localhost", True), ("::1", True)),
        *(("10.0.0.1", False), ("shop.example", False), ("127.0.0.1.example", False)),
    ],
)
def test_only_loopback_counts_as_this_machine(host, expected):
    assert Url("http", host, 80).is_loopback is expected


def test_a_plan_that_would_ask_somebody_else_is_found_out():
    plain, tls = Url("http", "a", 80), Url("https", "a", 443)
    reads = "${__P(host,127.0.0.1)} ${__property(port)}"
    assert unread(plain, [reads]) == []
    assert unread(plain, ["${__P(host,a)}", "${__P(port,1)}"]) == []
    assert unread(tls, [reads]) == ["protocol"]
    assert unread(plain, ["127.0.0.1"]) == ["host", "port"]
    assert unread(plain, ["${__P(hostname)} ${__P( port ,80)}"]) == ["host"]


PLAN = "${__P(host,127.0.0.1)} ${__P(port,80)}"


@pytest.fixture
def configured(tmp_path):
    """A configuration with a plan of this text, and the plan."""

    def configure(text=PLAN, **scenario):
        plan = tmp_path / "shop.jmx"
        plan.write_text(text)
        shop = {"script": str(plan), **scenario}
        config = {"execution": [{"scenario": "shop"}], "scenarios": {"shop": shop}}
        return BetterDict.from_dict(config), plan

    return configure


def test_the_plan_gets_where_the_service_is_and_the_run_what_to_ask_it(configured):
    probes = [{"path": "/a", "answer": "ok"}]
    config, _ = configured(url="http://localhost:8080", probes=probes)
    ((name, remote, asked),) = wanted_remotes(config)
    assert (name, remote.url, asked) == (
        "shop",
        "http://localhost:8080",
        [Probe("/a", re.compile("ok"))],
    )
    assert config["scenarios"]["shop"]["properties"] == remote.properties


def test_a_plan_with_a_hard_coded_host_is_refused_where_the_scenario_names_a_url(configured):
    text = jmx.plan(jmx.group(jmx.sampler("home", HTTPSampler__domain="127.0.0.1")))
    config, plan = configured(text, url="http://localhost:8080")
    assert refusal(list, wanted_remotes(config)) == (
        f"targets: {plan} does not read the property 'host', and so does not ask "
        "http://localhost:8080: write ${__P(host,...)} in its HTTP Request Defaults"
    )


def test_probes_of_a_scenario_go_before_those_of_the_service():
    config = BetterDict.from_dict(
        {
            "execution": [{"scenario": name} for name in ("fork", "mine", "none")],
            "scenarios": {
                "fork": {"target": "fork"},
                "mine": {"target": ["mine", "fork"], "probes": [{"path": "/x", "answer": "y"}]},
                "none": {"target": "quiet", "probes": []},
            },
        }
    )
    assert wanted_probes(
        config,
        [
            {
                "path": "/sum/1",
                "answer": "1",
            }
        ],
    ) == {
        "fork": [Probe("/sum/1", re.compile("1")), Probe("/x", re.compile("y"))],
        "mine": [Probe("/x", re.compile("y"))],
        "quiet": [],
    }


@pytest.mark.parametrize(
    ("probes", "said"),
    [
        ("/a", "probes is '/a': write a list of paths with answers"),
        (["/a"], "probes is ['/a']: write a list of paths with answers"),
        ([{"answer": "a"}], "probes.0.path is missing: write a path that begins with /"),
        ([{"path": "a", "answer": ""}], "probes.0.path is 'a': write a path that begins with /"),
        ([{"path": "/a", "x": 1}], "probes.0 has the setting 'x', which does not exist: known are"),
        ([{"path": "/a", "answer": "("}], "probes.0.answer is '(': write a regular expression"),
    ],
)
def test_probes_that_nobody_could_ask_are_refused(configured, probes, said):
    assert said in refusal(wanted_probes, configured(target="fork", probes=probes)[0], [])


def test_a_service_that_is_not_there_is_refused_with_what_to_do(configured):
    config, _ = configured(url="http://127.0.0.1:1")
    said = refusal(probe.ask_elsewhere, wanted_remotes(config), logging.getLogger("targets"))
    assert said.startswith("nothing answers at http://127.0.0.1:1 (")
    assert "Connection refused" in said
    assert "start it first" in said
