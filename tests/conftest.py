"""Nothing that a test starts may outlive it, and no test is left out without being named."""

import atexit
import itertools
import os
import signal
import time
from collections import Counter
from pathlib import Path

import hypothesis
import psutil
import pytest

import support
from support import pages, run_folder
from support.repetitions import Repetitions
from tollgate.samples import reading

#: Folders of tests that start bzt, JMeter, browsers or installers.
SLOW = ("compatibility", "e2e", "plans", "scripts")
#: Files of tests that take a minute or more, the longest first.
LONGEST = (
    *("test_package", "test_bisect", "test_bisect_beside", "test_service", "test_compare"),
    "test_compare_fails",
    *("test_doctor", "test_newcomer", "test_ways_out", "test_compare_cpu", "test_forecast"),
    *("test_compare_control", "test_real_services", "test_compare_mix", "test_study"),
    *("test_command", "test_shares", "test_capacity", "test_templates", "test_reload"),
    "test_compare_own_plan",
    *("test_cli", "test_engines", "test_screenshots", "test_examples", "test_bzt", "test_looks"),
    *("test_victoria_metrics", "test_capacity_search", "test_false_passes", "test_check"),
    *("test_export", "test_compare_apps", "test_adoption", "test_bootstrap", "test_ci_files"),
    *("test_profile_processes", "test_every_element"),
)
#: Folders of tests with real processes: what else a shared machine does can fail one of them, so
#: that one that fails has a second go. The summary names it.
REAL = (*SLOW, "certification", "cli", "compare", "report", "study", "targets", "workers")
SECOND_GO = pytest.mark.flaky(reruns=1)
#: Folder of tests with tools of others.
COMPATIBILITY = Path(__file__).parent / "compatibility"
#: Seconds that processes may take to end which their test has already told to.
GRACE = 5
#: Of tests that took so many seconds in all, so many files are told with theirs, the slowest first.
TOLD_FROM_S, SLOWEST = 60, 25
#: The file in which scripts/test reads the names of those that failed.
FAILED_TESTS = pytest.StashKey[str]()
MARKERS = (
    "needs(name): leaves the test out, and says so, where this isn't installed",
    "alone: measures times or loads, and runs beside others that do and nothing else; left to CI",
    "engines: hosts of its own for JMeter's remote engines; left to CI",
    "services: installs published services that are not ours; left to CI",
    "package: the wheel, installed and run out of sight of the checkout; left to CI",
    "compatibility: runs tools of others that meet Tollgate; left to CI",
    "by_hand: takes too long for CI; `scripts/test compatibility` runs it",
    "long: a real run, or a computation of seconds, beside which a shorter test stands; left to CI",
    "statistics: a simulation, a tenth of whose repetitions is made without --all-repetitions",
)
# No example of Hypothesis's is too slow, however busy the machine is.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)


def pytest_addoption(parser):
    told = "make all repetitions of each simulation"
    parser.addoption("--all-repetitions", action="store_true", help=told)


def pytest_configure(config):
    _hear_signals()
    # Not for what the tests start.
    config.stash[FAILED_TESTS] = os.environ.pop("TOLLGATE_FAILED_TESTS", os.devnull)
    os.environ[support.MARK] = f"{os.getpid()}-{time.time_ns()}"
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    hypothesis.settings.load_profile("any machine")
    atexit.register(_say_no_more)


def _say_no_more():
    """What DuckDB's binding says of its own objects when Python ends is pages long, and would stand
    behind, or in front of, what has failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def pytest_collection_modifyitems(items):
    """Files whose tests mostly wait for processes and those that compute take turns, the longest of
    them first, so that no core is idle and no long file is left for the end."""
    files = dict.fromkeys(item.path for item in items)
    order = {name: place for place, name in enumerate(LONGEST)}
    turns = {}
    for waits in (True, False):
        alike = [it for it in files if (it.parent.name in SLOW) == waits]
        alike.sort(key=lambda it: order.get(it.stem, len(order)))
        turns |= {path: place / len(alike) for place, path in enumerate(alike)}
    items.sort(key=lambda item: turns[item.path])
    for item in items:
        if item.path.is_relative_to(COMPATIBILITY):
            item.add_marker("compatibility")
        if any(it.name in REAL for it in item.path.parents):
            item.add_marker(SECOND_GO)
        # scripts/test looks for those there.
        marked = any(
            item.get_closest_marker(it) for it in ("alone", "engines", "package", "services")
        )
        assert not marked or item.path.parent.name == "e2e", item.nodeid


def _hear_signals():
    """What this was started by may ignore signals, as nohup and a shell's background do, and what a
    test starts would inherit that: a handler is not inherited."""
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs"):
        absent = [name for name in mark.args if not support.NEEDS[name]()]
        if absent:
            pytest.skip(f"needs {' and '.join(absent)}, see scripts/system-packages")


def _left_out(config):
    return config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped", [])


def pytest_terminal_summary(terminalreporter, config):
    for report in _left_out(config):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"LEFT OUT {report.nodeid}: {reason}", yellow=True)
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.write_line(f"SECOND GO {report.nodeid}", yellow=True)
        terminalreporter.write_line(report.longreprtext)
    seconds = _seconds_by_file(terminalreporter.stats)
    if seconds.total() >= TOLD_FROM_S:
        for file, took in seconds.most_common(SLOWEST):
            terminalreporter.write_line(f"{took:6.0f} s  {file}")
    failed = [it for kind in ("failed", "error") for it in terminalreporter.stats.get(kind, [])]
    with Path(config.stash[FAILED_TESTS]).open("a") as file:
        file.writelines(f"{report.nodeid}\n" for report in failed)


def _seconds_by_file(stats):
    """What the tests of each file took, and their fixtures."""
    seconds = Counter()
    for report in itertools.chain.from_iterable(stats.values()):
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid.partition("::")[0]] += report.duration
    return seconds


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if os.environ.get("CI") == "true" and _left_out(session.config) and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_left():
    """Fails when a process that these tests started is still there, and ends it."""
    yield
    pages.close()
    left = psutil.wait_procs(support.ours(), timeout=GRACE)[1]
    described = [f"{process.pid} {' '.join(process.cmdline())[:120]}" for process in left]
    for process in left:
        process.kill()
    psutil.wait_procs(left)
    assert not described, f"left behind: {described}"


@pytest.fixture
def repetitions(request):
    """Gives so many repetitions of a simulation, or the tenth that this session makes of them."""
    assert request.node.get_closest_marker("statistics"), "mark the simulation `statistics`"
    makes_all = request.config.getoption("--all-repetitions")
    return lambda whole: Repetitions.of(whole, makes_all)


@pytest.fixture
def port():
    """Gives a free port a call; fails when one of them is still in use after the test."""
    given = []

    def give():
        given.append(support.free_port())
        return given[-1]

    yield give
    busy = [number for number in given if support.listens(number)]
    assert not busy, f"still in use: {busy}"


@pytest.fixture
def judged(tmp_path):
    """Makes a run's folder, may put another JTL there, and returns the verdict or a refusal."""

    def judge(*criteria, spoiled=None, sealed=False, **changes):
        run_folder.make(tmp_path, criteria or run_folder.HOLDS, **changes)
        if spoiled is not None:
            run_folder.spoil(tmp_path, spoiled, sealed)
        return run_folder.verdict_of(tmp_path)

    return judge


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a JTL and returns its path."""

    def write(content):
        path = tmp_path / "kpi.jtl"
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def scans(monkeypatch):
    """From which byte to which each reading of a JTL went."""
    ranges = []
    survey = reading._survey

    def noted(path, begin, size):
        ranges.append((begin.offset, size))
        return survey(path, begin, size)

    monkeypatch.setattr(reading, "_survey", noted)
    return ranges
