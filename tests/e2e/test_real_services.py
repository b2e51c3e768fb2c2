"""Published services that nobody here wrote, as their users start them: verdaccio, a registry for
npm, under PM2, and httpbin under gunicorn, by URL."""

import pytest

from e2e.bzt_run import LENIENT, Run
from e2e.comparing import SHORT
from support import services
from support.service_suite import REQUESTS, ServiceSuite

pytestmark = pytest.mark.services

CHECKED = (
    *("modules.jmeter.properties.warmup=3", "modules.jmeter.properties.measured=8"),
    "modules.stop-when-decided.budget=off",
)
COMPARED = (*SHORT, "modules.compare.processes=2", "modules.compare.budget=20")


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return ServiceSuite(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def registry(suite):
    """The repository of verdaccio's user: 5 was the base of what is 6 now."""
    suite.registry(rate="20/s")
    return suite.repo


@pytest.fixture(scope="module")
def httpbin(suite, tmp_path_factory):
    """The URLs of four processes of httpbin."""
    with services.serving_httpbin(tmp_path_factory.mktemp("httpbin") / "environment", 4) as urls:
        suite.httpbin(*urls[:2], rate="20/s")
        yield urls


@pytest.fixture
def run(suite, tmp_path):
    """A run of a service of the suite, that leaves nothing behind."""

    def made(alias, *options, **env):
        config = {"scenarios": suite.scenarios, "modules": {"verdict": LENIENT}}
        given = {"XDG_CACHE_HOME": str(tmp_path / "cache"), **env}
        under_way = Run(tmp_path, *options, config=config, alias=alias, root=suite.suite, **given)
        return under_way.end() if alias.endswith("httpbin") else under_way.end_cleanly()

    return made


def labels(service):
    return {it["label"] for it in REQUESTS[service]}


def asked(ran):
    return {row["label"] for row in ran.samples}


@pytest.mark.usefixtures("registry")
def test_a_registry_of_npm_is_checked_under_pm2(run):
    ran = run("registry", *CHECKED)
    assert ran.all_answered_right
    assert asked(ran) == labels("registry")
    [worker] = ran.execution["workers"]
    assert worker["rss_max_bytes"] > 20e6


def test_two_major_versions_of_a_registry_are_compared(run, registry):
    before = registry.state()
    ran = run("compare registry", *COMPARED, BASE="HEAD~1")
    assert ran.all_answered_right
    told = ran.json("compare.json")
    assert told["base"]["revision"] == registry.git("rev-parse", "HEAD~1")
    assert (told["left_out"], told["processes"]) == ([], 2)
    assert {it["label"] for it in told["power"]} == {"all labels", *labels("registry")}
    coins = {(row["label"], int(row["coin"]) % 2) for row in ran.samples}
    assert coins == {(label, side) for label in labels("registry") for side in (0, 1)}
    assert registry.state() == before


def test_alike_processes_by_url_are_asked_in_turn(run, httpbin):
    ran = run("httpbin", *CHECKED)
    assert ran.all_answered_right
    assert asked(ran) == labels("httpbin")
    servers = [row["URL"].rpartition("/")[0].partition("://")[2] for row in ran.samples]
    counts = [servers.count(url.partition("://")[2]) for url in httpbin]
    assert min(counts[:2]) > 0.25 * sum(counts)
    assert counts[2:] == [0, 0]


def test_two_lists_of_urls_are_compared(run, httpbin):
    sides = {"BASE_URL": ",".join(httpbin[:2]), "HEAD_URL": ",".join(httpbin[2:])}
    ran = run("compare httpbin", *COMPARED, **sides)
    assert ran.all_answered_right
    told = ran.json("compare.json")
    assert (told["mode"], told["processes"], told["left_out"]) == ("url", 2, [])
    assert {int(row["coin"]) for row in ran.samples} == {0, 1, 2, 3}
