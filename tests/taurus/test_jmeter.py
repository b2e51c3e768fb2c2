"""Where JMeter runs, and how bzt follows a JTL while JMeter writes it."""

import logging
import subprocess
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import javaproperties
import pytest
from bzt import TaurusConfigError
from bzt.modules.aggregator import ConsolidatingAggregator
from bzt.modules.jmeter import JMeterExecutor, JTLReader
from bzt.modules.provisioning import Local
from bzt.utils import BetterDict, Environment

import support
from support import jmx_text as jmx
from support.plan_files import PLANS
from tollgate.plan.model import Plan
from tollgate.plan.properties import ARGUMENTS
from tollgate.plan.read import read_plan
from tollgate.record.redaction import MARK, Redaction
from tollgate.samples.layout import RECORD_BYTES
from tollgate.targets import lock
from tollgate.taurus.jmeter import (
    LOGGED,
    QUIET,
    InstalledJMeter,
    direct_hosts,
    thread_logging,
)
from tollgate.taurus.rerun_load import rerun_load
from tollgate.taurus.shared import under_way
from tollgate.taurus.whole_records import WholeRecords

HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,"
    "grpThreads,allThreads,Latency,Connect\n"
)
BROKEN = '1700000000000,5,search,500,"first line\nsecond ""line""\n",a 1-1,false,9,1,1,4,1\n'
WHOLE = "1700000001000,6,search,200,OK,a 1-1,true,9,1,1,4,1\n"


class Engine:
    """Starts what bzt's would, with the standard streams that it is given."""

    artifacts_dir = "run"

    @staticmethod
    def start_subprocess(args, env, cwd=None, **streams):
        return subprocess.Popen(args, env=env.get(), cwd=cwd, text=True, **streams)


PLAN = "theirs/Größe 1.jmx"


@pytest.mark.parametrize(
    ("named", "original"),
    [(PLAN, None), (f"{{here}}/{PLAN}", None), ("copy.jmx", Path(PLAN))],
)
def test_jmeter_runs_in_the_folder_of_the_plan_however_that_is_named(
    tmp_path, monkeypatch, named, original
):
    (tmp_path / "theirs").mkdir()
    monkeypatch.chdir(tmp_path)
    executor = InstalledJMeter()
    executor.engine, executor.env = Engine(), Environment()
    under_way(executor.engine).executions[executor.label].original = original
    executor.original_jmx = named.format(here=tmp_path)
    Path(executor.original_jmx).write_text(jmx.plan())
    with executor._execute(["sh", "-c", "pwd -P"]) as process:
        assert process.stdout.read() == f"{(tmp_path / 'theirs').resolve()}\n"


def test_java_gets_properties_in_ascii_and_the_folder_those_that_are_not_secret(tmp_path):
    given = {"items": "/für mich/✓ 🙂.csv", "api_key": r"Schlüssel\1", "dir": "C:\\data\\"}
    given |= {"pattern": r" \d+", "a:b": "1", "text": "one\ntwo"}
    executor = InstalledJMeter()
    executor.engine = SimpleNamespace(redaction=Redaction())
    executor.properties = BetterDict.from_dict(given)
    path = tmp_path / "jmeter-bzt.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    file = Path(executor._kept_apart(str(path)))
    assert javaproperties.loads(file.read_text("ascii")) == given
    assert javaproperties.loads(path.read_text("ascii")) == given | {"api_key": MARK}
    executor._remove_secrets()
    assert not file.exists()


#: In the place of JMeter: shows what it was given.
SHOWS = """#!/bin/sh
pwd -P
while [ $# -gt 0 ]; do
  case $1 in -t) cat "$2" ;; -q) stat -c %a "$2" && cat "$2" ;; esac
  echo "[$1]"
  shift
done
echo shown
exec sleep 600
"""


def test_the_plan_runs_again_with_its_fragments_in_place_and_leaves_no_file(tmp_path, monkeypatch):
    remembered = []
    monkeypatch.setattr(lock, "remember", lambda *given: remembered.append(given))
    tool = tmp_path / "jmeter"
    tool.write_text(SHOWS)
    tool.chmod(0o755)
    executor = InstalledJMeter()
    executor.tool, executor.env = SimpleNamespace(tool_path=str(tool)), Environment()
    executor.original_jmx = str(PLANS / "compare.jmx")
    executor.engine, executor.label = SimpleNamespace(), "compare"
    executor.properties = BetterDict.from_dict({"key": "geheim für alle", "warmup": 15})
    out = tmp_path / "jmeter.out"
    with rerun_load(executor, tmp_path, warmup=7) as process:
        support.wait_until(lambda: out.read_text().endswith("\nshown\n"), "it has shown all")
        [(pids, files)] = remembered
        assert (pids, [Path(it).exists() for it in files]) == ([process.pid], [True, True])
    shown = out.read_text()
    assert shown.startswith(f"{PLANS}\n")
    assert "IncludeController" in (PLANS / "compare.jmx").read_text()
    assert "IncludeController" not in shown
    assert "\n600\nkey=geheim f\\u00fcr alle\nwarmup=7\n" in shown
    assert f"\n[{tmp_path / 'jmeter.log'}]\n" in shown
    assert f"\n[{LOGGED[0]}]\n" in shown
    assert all(f"\n[{it}]\n" in shown for it in ARGUMENTS)
    assert process.poll() is not None
    assert not any(Path(it).exists() for it in files)


NO_GROUPS = Plan(Path("plan.jmx"), ())
LOGGING = ("-LDEBUG", "-Lorg.apache.jmeter.threads=INFO", "--loglevel x", "-i my.xml", "-n -L x=y")


@pytest.mark.parametrize("own", LOGGING)
def test_a_users_own_options_for_the_log_are_left_alone(own):
    assert thread_logging({}, own, NO_GROUPS) == ()
    assert thread_logging({"JVM_ARGS": "-Dlog4j2.configurationFile=own.xml"}, "", NO_GROUPS) == ()
    environment = {"JVM_ARGS": "-Xmx1g -Dlogin=x", "OTHER": "log4j"}
    other = "-Juser=a-L --nongui -Jpath=/x-i"
    assert thread_logging(environment, other, NO_GROUPS) == LOGGED


#: Of thread groups, whether JMeter's log must say how their threads ended.
HOME = jmx.sampler("a")
ARRIVALS, COUNTED = jmx.open_group(HOME), jmx.group(jmx.sampler("b"))
UNCOUNTED = jmx.group(jmx.element("RandomOrderController", "any", [HOME]), loops=2, duration=None)
CHANCE = jmx.open_group(jmx.element("IfController", "maybe", [HOME]))
SWITCHED = jmx.open_group(jmx.element("SwitchController", "one", [HOME]))
NEEDED = {
    "looping": ([jmx.group(HOME, loops=2)], LOGGED),
    "arrivals": ([ARRIVALS], QUIET),
    "arrivals and what can be counted": ([ARRIVALS, COUNTED], QUIET),
    "arrivals and what can't be counted": ([ARRIVALS, UNCOUNTED], LOGGED),
    "arrivals that may send nothing": ([CHANCE], LOGGED),
    "arrivals that are switched": ([SWITCHED], LOGGED),
}


@pytest.mark.parametrize("plan", NEEDED)
def test_the_log_has_lines_of_each_thread_but_not_of_each_arrival(tmp_path, plan):
    groups, options = NEEDED[plan]
    (tmp_path / "plan.jmx").write_text(jmx.plan(*groups))
    assert thread_logging({}, "", read_plan(tmp_path / "plan.jmx", {})) == options


def test_the_log_has_no_line_of_each_arrival_of_a_plan_that_sends_something_for_each(tmp_path):
    (tmp_path / "plan.jmx").write_text(jmx.plan(SWITCHED))
    plan = read_plan(tmp_path / "plan.jmx", {})
    assert thread_logging({}, "", plan, is_composed=True) == QUIET


def reader(path):
    found = JTLReader(str(path), logging.getLogger("test"), None)
    found.csvreader.file = WholeRecords(found.csvreader.file)
    return found


@pytest.mark.parametrize("cut", range(1, len(BROKEN)))
def test_a_message_with_line_breaks_is_one_record_wherever_the_file_ends_for_now(tmp_path, cut):
    path = tmp_path / "kpi.jtl"
    follows, rows, written = reader(path), [], ""
    for piece in (HEADER + WHOLE, BROKEN[:cut], BROKEN[cut:] + WHOLE):
        written += piece
        path.write_text(written)
        rows += [row.copy() for row in follows.csvreader.read()]
    assert [row["responseCode"] for row in rows] == ["200", "500", "200"]
    assert rows[1]["responseMessage"] == 'first line\nsecond "line"\n'
    assert follows.csvreader.file.offset == path.stat().st_size


def whole_records(lines):
    """What holds back unfinished records of a file that has these lines."""
    return WholeRecords(SimpleNamespace(get_lines=lambda *_, **__: iter(lines)))


class Counted(str):
    """A line that notes how often quotes are counted in it."""

    __slots__ = ()
    counted: ClassVar[list[int]] = []

    def count(self, *words):
        self.counted.append(len(self))
        return super().count(*words)


def test_a_quote_that_is_never_closed_holds_back_no_more_than_the_longest_record():
    line = "x" * 999 + "\n"
    lines = ['1,"' + line, *[line] * 4500, WHOLE]
    found = list(whole_records(lines).get_lines())
    assert "".join(found) == "".join(lines)
    assert max(map(len, found)) <= RECORD_BYTES + len(line) + 3
    assert found[-1] == WHOLE


def test_each_line_of_a_long_record_is_looked_at_once():
    Counted.counted.clear()
    lines = [Counted('1,"first\n'), *[Counted("more\n")] * 1000, Counted('last"\n')]
    assert list(whole_records(lines).get_lines()) == ["".join(lines)]
    assert len(Counted.counted) == len(lines)


@pytest.mark.parametrize("listeners", [[], [object()]])
def test_bzt_reads_the_samples_for_reporters_of_its_own_alone(monkeypatch, listeners):
    jmeter, aggregator = InstalledJMeter(), ConsolidatingAggregator()
    monkeypatch.setattr(JMeterExecutor, "startup", lambda _: None)
    jmeter.engine = SimpleNamespace(aggregator=aggregator)
    jmeter.reader, aggregator.listeners = JTLReader("kpi.jtl", logging.getLogger(), None), listeners
    aggregator.underlings.append(jmeter.reader)
    jmeter.startup()
    assert aggregator.underlings == [jmeter.reader] * len(listeners)


START, TRACE = "TESTSTART.MS", "tollgate_trace"
OURS = f"{START},{TRACE}"


def asks(text, **more):
    return {"sample_variables": text, **more}


def asked_for(module, scenario):
    """The properties of a scenario once its JMeter is asked for variables."""
    executor = InstalledJMeter()
    executor.settings = BetterDict.from_dict({"properties": module})
    config = BetterDict.from_dict({"properties": {"users": 2, **scenario}})
    executor.get_scenario = lambda: config
    executor._ask_for_variables()
    return config["properties"]


@pytest.mark.parametrize(
    ("module", "scenario", "told"),
    [
        *(({}, {}, OURS), (asks(""), {}, OURS), (asks(None), {}, OURS)),
        *((asks("user"), {}, f"user,{OURS}"), (asks("user,"), {}, f"user,{OURS}")),
        (asks(f"user, {START}"), {}, f"user, {START},{OURS}"),
        *((asks(START), {}, OURS), (asks(f"{START},b"), {}, f"{START},b,{TRACE}")),
        *((asks(START), asks("a"), f"a,{OURS}"), (asks(OURS), {}, OURS)),
    ],
)
def test_a_run_asks_jmeter_for_its_start_and_traces_beside_the_users_own_variables(
    module, scenario, told
):
    assert asked_for(module, scenario) == {"users": 2, **asks(told)}


@pytest.mark.parametrize("off", ["off", False])  # as YAML 1.2 and 1.1 read it
def test_without_traces_their_column_is_not_asked_for(off):
    way = {"traceparent": off}
    assert asked_for(way, {})["sample_variables"] == START
    assert asked_for({}, way)["sample_variables"] == START
    assert asked_for(way, {"traceparent": "sampled"})["sample_variables"] == OURS


@pytest.mark.parametrize("way", ["on", "01", True, None, 1, ["off"]])
def test_a_way_to_send_traces_that_does_not_exist_is_refused(way):
    with pytest.raises(TaurusConfigError, match="the property traceparent is "):
        asked_for({"traceparent": way}, {})


def test_the_private_method_that_is_overridden_is_one_of_this_bzt():
    """With another version: does it write its choice over a plan's cookie managers, and where?"""
    assert metadata.version("bzt") == "1.17.2"
    name = "_JMeterExecutor__force_hc4_cookie_handler"
    assert name in vars(JMeterExecutor)
    assert name in vars(InstalledJMeter)


def test_samples_that_bzt_did_not_get_to_read_are_no_failure_of_jmeter(monkeypatch):
    executor, provisioning = InstalledJMeter(), Local()
    monkeypatch.setattr(executor, "post_process", lambda: None)
    provisioning.executors = provisioning.started_modules = [executor]
    provisioning.engine = Engine()
    provisioning.post_process()  # or bzt's exit code, 1, would go before the verdict's


def test_nothing_is_read_of_a_jmeter_that_was_ended():
    records = whole_records(["a\n", "b\n"])
    assert list(records.get_lines()) == ["a\n", "b\n"]
    records.is_over = True
    assert list(records.get_lines()) == []


EXCEPT = "-Dhttp.nonProxyHosts="


@pytest.mark.parametrize(
    ("environment", "hosts", "more"),
    [
        ({}, [], []),
        ({}, ["127.0.0.1", "shop.example", "127.0.0.9"], ["127.0.0.9"]),
        ({"JAVA_TOOL_OPTIONS": f"-Xmx1g {EXCEPT}*.corp|db -Da=b"}, [], ["*.corp", "db"]),
        ({"JVM_ARGS": f"{EXCEPT}'x'", "JAVA_TOOL_OPTIONS": f"{EXCEPT}y"}, [], ["x"]),
    ],
)
def test_this_machine_is_asked_without_a_proxy_as_is_what_the_user_excepts(
    environment, hosts, more
):
    here = ["localhost", "127.0.0.1", "::1", "[::1]"]
    assert direct_hosts(environment, hosts).split("|") == [*here, *more]
