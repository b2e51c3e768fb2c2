"""`-compare` by the real bzt, PM2, JMeter, git and npm, in a copy of the project with a history."""

import json
import re
import signal
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import support
from e2e.adopting import serve
from e2e.comparing import CHEAP_SUMS, LIGHT, SHORT, assert_nothing_left
from support.git_repos import SERVER


def refused(run, project):
    """The one line of a run that was refused."""
    ended = run.end()
    assert ended.code == 1
    assert not list(ended.folder.glob("kpi*"))
    assert_nothing_left(run, project)
    return ended.error()


def test_a_base_whose_packages_can_t_be_installed_is_told_by_npm_s_words(compare, project):
    run = compare(BASE="unlocked")
    said = refused(run, project)
    assert "`npm ci` failed for base: " in said
    assert f"(all of it: {run.folder / 'install-base.log'})" in said
    assert (run.folder / "install-base.log").stat().st_size > 0


@pytest.fixture
def answering(project):
    """Two services of somebody's that run already, with two processes each: the ports by the
    variable that names them."""
    servers = {}
    try:
        for _ in range(4):
            port = support.free_port()
            servers[port] = serve(project.root / SERVER, port)
        first, second, *others = servers
        yield {"BASE_URL": [first, second], "HEAD_URL": others}
        assert [it.poll() for it in servers.values()] == [None] * 4
    finally:
        for server in servers.values():
            server.terminate()
            server.wait()


@pytest.mark.long
def test_two_services_that_run_already_are_compared_and_left_alone(compare, answering):
    urls = {
        name: ",".join(f"http://127.0.0.1:{port}" for port in ports)
        for name, ports in answering.items()
    }
    gate = (*CHEAP_SUMS, "modules.jmeter.properties.warmup=8", "modules.compare.gates=p50")
    ended = compare(*SHORT, *LIGHT, *gate, "modules.compare.profile=true", **urls).end()
    assert ended.code == 0, ended.output
    told = ended.json("compare.json")
    assert (told["mode"], told["base"]["revision"], told["head"]["revision"]) == ("url", None, None)
    assert [told[side]["url"] for side in ("base", "head")] == list(urls.values())
    [execution] = ended.json("run.json")["executions"]
    assert execution["targets"] == []
    compared = ended.execution["comparison"]
    assert (compared["verdict"], compared["control"]) == ("PASS", False)
    # JMeter's log has how each thread began and ended, and no line of an arrival or an include.
    log = (ended.folder / "jmeter.log").read_text()
    assert max(Counter(re.findall(r"\b(?:sum|search) \d+-\d+", log)).values()) <= 4
    assert "fragments/" not in log
    assert all(min(each["samples"].values()) > 40 for each in compared["findings"])
    asked = {(row["coin"], urlsplit(row["URL"]).port) for row in ended.samples}
    coins = zip(*answering.values(), strict=True)
    assert asked == {(str(n), port) for n, port in enumerate(it for two in coins for it in two)}
    assert told["processes"] == 2
    assert "services by URL" in ended.json("why.json")["problem"]
    assert "No profile: base and head are services by URL" in ended.page
    ruled_out = r"ruled out is a rise of (typical by \S+\s%, of )?p50 by 90\s%[.,]"
    assert re.search(f"Head against base, of search alone: {ruled_out}", ended.page)


@pytest.mark.long
def test_what_a_killed_comparison_left_is_removed_by_the_next_whose_base_dies(compare, project):
    ports = {"PORT_FORK": str(support.free_port())}
    killed = compare(*SHORT, BASE="HEAD", **ports).until("Rehearsing what base and head answer")
    support.wait_until((killed.folder / "rehearsal" / "kpi.jtl").exists, "the load is on")
    killed.kill()
    assert (project.root / ".tollgate" / "base" / SERVER).exists()
    first = [it for it in (project.root / "plans").glob("modified*") if it.suffix == ".jmx"]
    assert len(first) == 2
    # One look at what it measured, whatever that says.
    profiled = ("modules.compare.profile=true", "modules.compare.budget=10")
    killed = compare(*SHORT, *LIGHT, *profiled, BASE="HEAD", **ports)
    killed.until("removed the check-out of a base").until("Profiling base and head")
    support.wait_until((killed.folder / "profile" / "schedule.json").exists, "the load is on")
    verdict = (killed.folder / "verdict.json").read_text()
    killed.kill()
    started = json.loads((project.root / ".tollgate" / "started.json").read_text())
    files = [Path(each["file"]) for each in started if "file" in each]
    assert sorted(it.suffix for it in files if it.exists()) == [".jmx", ".properties"]
    following = compare(BASE="HEAD~1", **ports)
    ended = following.end()
    assert not any(map(Path.exists, [*first, *files]))
    assert (killed.folder / "verdict.json").read_text() == verdict
    assert "removed the check-out of a base, left by a run that was killed" in ended.output
    assert ended.code == 1
    assert "app 'base' died at start: RangeError: this base is broken" in ended.error()
    assert not list(ended.folder.glob("kpi*"))
    assert_nothing_left(following, project)


@pytest.mark.long
def test_an_interrupted_comparison_leaves_a_verdict_and_nothing_else(compare, project):
    run = compare(*SHORT, *LIGHT, BASE="HEAD").until(" of at most 62 s, ")
    ended = run.signal(signal.SIGINT).end()
    assert ended.outcome == (2, "INVALID")
    assert_nothing_left(run, project)
