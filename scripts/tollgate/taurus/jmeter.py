"""Taurus executor `jmeter`: starts JMeter, ends it in good order, and follows what it writes.

No JVM is started for each execution to see whether one starts. JMeter takes its proxy from
`http.proxyHost`, which JAVA_TOOL_OPTIONS may set, and of the hosts to ask directly it knows whole
names and endings, not Java's own `127.*`: so each name of this machine is given (`direct_hosts`).
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError
from bzt.modules.jmeter import JMeter, JMeterExecutor

from tollgate.base.paths import java_finds
from tollgate.base.text import java_escaped, java_property
from tollgate.base.urls import Url
from tollgate.gather.thread_ends import thread_ends
from tollgate.plan import sent, traceparent
from tollgate.plan.inline import put_in_place, shares_fragments
from tollgate.plan.model import LOOPING, Plan
from tollgate.plan.properties import ARGUMENTS
from tollgate.plan.read import read_hosts, read_plan
from tollgate.plan.threads import stated_end
from tollgate.record.environment import GENERATOR
from tollgate.record.redaction import Redaction
from tollgate.schedule.schedule import schedules_of
from tollgate.targets import lock
from tollgate.taurus.remote_load import RemoteLoad
from tollgate.taurus.shared import under_way
from tollgate.taurus.whole_records import WholeRecords

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1", "[::1]")
#: JMeter's property for the variables that it writes beside each sample, and the one that holds
#: when the test started.
VARIABLES, TEST_START = "sample_variables", "TESTSTART.MS"
#: The logger that says how each thread ends: three lines for each, which in an open model is each
#: arrival.
_THREADS = "-Lorg.apache.jmeter.threads.JMeterThread"
QUIET, LOGGED = (f"{_THREADS}=WARN",), (f"{_THREADS}=INFO",)
#: By which a user has a say in the logging.
_LOGGING = re.compile(r"(^|\s)(-L|--loglevel|-i|--jmeterlogconf)|log4j")
#: What JMeter prints once it listens for messages, and where it found no port to.
LISTENS = re.compile(r"^Waiting for possible Shutdown/.* message on port (\d+)$", re.MULTILINE)
IS_DEAF = "Failed to create UDP port"
#: Seconds for the answers that are under way when the load is ended.
FOR_ANSWERS_S = 2.5
#: Seconds for a JMeter that gives up its requests, and for one that writes down what it holds.
TO_GIVE_UP_S, TO_WRITE_S = 2.5, 30.0


def direct_hosts(environment: Mapping[str, str], hosts: Iterable[str]) -> str:
    """JMeter's `nonProxyHosts`: this machine, by the names that the plan's hosts have for it, and
    what the user's options already except."""
    options = " ".join(environment.get(name, "") for name in GENERATOR)
    given = re.findall(r"""-Dhttp\.nonProxyHosts=["']?([^\s"']+)""", options)
    ours = (host for host in hosts if Url("http", host, 80).is_loopback)
    return "|".join(dict.fromkeys([*_THIS_MACHINE, *ours, *given[-1:]]))


def thread_logging(
    environment: Mapping[str, str], options: str, plan: Plan, is_composed: bool = False
) -> tuple[str, ...]:
    """JMeter's options that have its log say how threads end, but for an open model where the
    samples show it; none where the user's own options, of JMeter or of the JVM, are about logging.
    is_composed: whether the plan is the suite's own, of which each arrival sends something."""
    jvm = " ".join(environment.get(name, "") for name in GENERATOR)
    if _LOGGING.search(f"{jvm} {options}"):
        return ()
    looping = [each for each in plan.groups if each.kind in LOOPING]
    is_shown = all(stated_end(each, may_jump=False) for each in looping)
    is_shown &= not any(each.stops.data for each in plan.groups)
    schedules = (it for _, it in schedules_of(plan)[1])
    is_shown &= is_composed or not any(it.by_thread and not it.least for it in schedules)
    return QUIET if is_shown and any(it.is_open_model for it in plan.groups) else LOGGED


class InstalledJMeter(JMeterExecutor):
    """Runs the JMeter of the cache, or the user's own that has been checked.

    Where it is missing, `targets` has said so before: Taurus would try to download one instead.

    forced: it went on after its load had been ended. is_over: `stop_now` has ended it.
    stop_requested_at: when `plan` ended its load, and begins_at: when remote engines are to send it
    (0 for at once), both in seconds since the epoch. load_ended_at: when its load was ended before
    its time, as well.
    """

    def __init__(self) -> None:
        super().__init__()
        self._secret_files: list[Path] = []
        self.forced = self.is_over = False
        self.stop_requested_at: float | None = None
        self.load_ended_at: float | None = None
        self._asked_to_end_at: float | None = None  # by time.monotonic()
        self._set_late: dict[str, object] = {}
        self._remote_file: str | None = None
        self._flags: str | None = None  # of `traceparent`
        self._thread_ends: dict[str, dict[str, int]] | None = None
        self.begins_at = 0.0

    def install_required_tools(self) -> None:
        """Take the tool as it is."""
        self.tool = self._get_tool(JMeter, config=self.settings, props=self.properties)

    def prepare(self) -> None:
        """Have JMeter write when it started and parse fragments once, each request tell its trace,
        and bzt follow the samples record by record."""
        self._ask_for_variables()
        super().prepare()
        folder = Path(self.original_jmx).absolute().parent
        if self.remote:
            self.remote.rewrite(Path(self.modified_jmx), folder, self.label)
            # What is handed to the engines. JMeter reads it with its own.
            path = self.engine.create_artifact("jmeter-engines", ".properties")
            handed = self.remote.properties(self.properties, self.label)
            Path(path).write_text("".join(f"{name}={value}\n" for name, value in handed.items()))
            self._remote_file = self._kept_apart(path)
        elif shares_fragments(Path(self.original_jmx)):
            put_in_place(Path(self.modified_jmx), folder)
        self._change_plan()
        self.properties_file = self._kept_apart(self.properties_file)
        self.sys_properties_file = self._kept_apart(self.sys_properties_file)
        self.env.set(java_finds(self.modified_jmx, self.engine.artifacts_dir))
        csv = getattr(self.reader, "csvreader", None)
        if csv is not None:
            csv.file = WholeRecords(csv.file)

    def _change_plan(self) -> None:
        """Have the run's copy of the plan look for variables without a value in what it sends, and
        send `traceparent`."""
        plan, copy = Path(self.original_jmx), Path(self.modified_jmx)
        data = under_way(self.engine).executions[self.label].original or plan
        properties = {key: str(value) for key, value in self.properties.items()}
        sent.watch(copy, sent.traces(plan, properties, data.absolute().parent))
        if self._flags and not traceparent.send(copy, data, properties, self._flags):
            self.log.info("%s: it sends a traceparent of its own", self.label)

    def startup(self) -> None:
        """Spare bzt's reading of the samples where none of its own reporters listens."""
        aggregator = self.engine.aggregator
        if not getattr(aggregator, "listeners", True) and self.reader in aggregator.underlings:
            aggregator.underlings.remove(self.reader)
        super().startup()

    def _execute(self, args: Sequence[str], **kwargs: object) -> subprocess.Popen[Any]:
        """Start JMeter in the plan's own folder, with `own_arguments`.

        JMeter looks for CSV files and includes beside the plan only where its working directory has
        none of that name (FileServer, IncludeController), and for the script files of JSR223
        elements in its working directory alone (JSR223TestElement): in the project's folder,
        a user's own plan would read the project's files and none of its scripts.
        """
        plan = under_way(self.engine).executions[self.label].original or self.original_jmx
        folder = Path(plan).absolute().parent
        late = [f"-J{name}={value}" for name, value in self._set_late.items()]
        if self.remote:
            pairs = pairwise(["", *args])
            args = [str(self._remote_file) if before == "-G" else it for before, it in pairs]
            self.begins_at = self.remote.begins_at()
            late += self.remote.arguments(self.begins_at)
        return super()._execute(
            [*args, *late, *self.own_arguments(self.properties)], cwd=str(folder), **kwargs
        )

    @property
    def remote(self) -> RemoteLoad | None:
        """The engines that send its load, None where this JMeter does."""
        return under_way(self.engine).remote if self.distributed_servers else None

    def set_properties(self, properties: Mapping[str, object]) -> None:
        """Have the plan run with these as well, after `prepare` has written down the others."""
        self.properties.merge(properties)
        self._set_late.update(properties)

    def own_arguments(self, properties: Mapping[str, object]) -> tuple[str, ...]:
        """Arguments of JMeter that no user gives: no proxy between it and this machine, what its
        log says of threads, and how it makes samples."""
        given = {key: str(value) for key, value in properties.items()}
        path, options = Path(self.original_jmx), str(self.settings.get("cmdline", ""))
        direct = direct_hosts(os.environ, read_hosts(path, given))
        composed = under_way(self.engine).composed
        is_composed = bool(composed and composed.parts)
        logging = thread_logging(os.environ, options, read_plan(path, given), is_composed)
        return "-N", direct, *logging, *ARGUMENTS

    def _kept_apart(self, path: str | None) -> str | None:
        """The file of properties for JMeter to read: where one of them is secret, a file outside of
        the run's folder that only this user can read. That in the folder keeps the rest."""
        if path is None:
            return path
        redaction: Redaction = self.engine.redaction
        redaction.properties(self.properties)
        plain = os.fsdecode(Path(path).read_bytes())
        whole, shown = (self._for_java(plain, each) for each in (str, redaction.hide))
        Path(path).write_text(shown, encoding="ascii")
        if shown == whole:
            return path
        number, name = tempfile.mkstemp(prefix="tollgate-", suffix=".properties")
        self._secret_files.append(Path(name))
        with os.fdopen(number, "w", encoding="ascii") as file:
            file.write(whole)
        return name

    def _for_java(self, plain: str, changed: Callable[[str], str]) -> str:
        """The text of a file of properties that bzt has written, escaped: bzt writes values as they
        are, and Java would read others from a backslash or the end of a line. changed: makes the
        value that is to be written."""
        text = f"\n{plain}"
        for name, value in self.properties.items():
            line = java_property(name, changed(str(value)))
            text = text.replace(f"\n{name}={value}\n", f"\n{line}")
        return java_escaped(changed(text[1:]))

    def post_process(self) -> None:
        """Also of a JMeter that never came so far. Taurus moves its copy of the plan into the run's
        folder, and leaves it beside the plan where there is no room."""
        self._remove_secrets()
        try:
            super().post_process()
        finally:
            if self.modified_jmx:
                Path(self.modified_jmx).unlink(missing_ok=True)

    def _remove_secrets(self) -> None:
        for path in self._secret_files:
            path.unlink(missing_ok=True)
        self._secret_files.clear()

    def check(self) -> bool:
        """Whether JMeter has ended; what it exits with is no error where it was made to."""
        # JMeter opens the samples' file once it has read its properties.
        if self._secret_files and Path(self.kpi_jtl).exists():
            self._remove_secrets()
        if (self.forced or self.is_over) and self.process.poll() is not None:
            return True
        return super().check()

    def has_results(self) -> bool:
        """Taken for granted: whether samples came is for `verdict` to say, which reads all of them.
        bzt would call a run failed whose first samples came with its end."""
        return True

    def tell_to_end(self) -> bool:
        """End the load, in good order if JMeter listens; False for one that does not listen yet."""
        is_deaf = IS_DEAF in self._output()
        if self._announced_port() is None and not is_deaf:
            return False
        self.threads_ended()  # before this ends them
        self._asked_to_end_at, self.load_ended_at = time.monotonic(), time.time()
        if not self._send(b"Shutdown"):
            self.forced = True
            self._signal(signal.SIGTERM)
        return True

    def stop_now(self) -> None:
        """End the load at once, with what is under way: an orderly end would not wake the threads
        that sleep in timers. What JMeter writes from here on is none of the run's."""
        self.is_over, self.load_ended_at = True, self.load_ended_at or time.time()
        csv = getattr(self.reader, "csvreader", None)
        if csv is not None and isinstance(csv.file, WholeRecords):
            csv.file.is_over = True
        self.reader.errors_reader = None
        self.threads_ended()
        self._give_up()

    def shutdown(self) -> None:
        """End a JMeter that is still there: in good order, then at once, then by force."""
        if self._ends_within(0):
            return
        self.log.info("%s: telling JMeter to end", self.label)
        is_asked = self._asked_to_end_at is not None or self.tell_to_end()
        if is_asked and self._ends_within(FOR_ANSWERS_S + self._asked_to_end_at - time.monotonic()):
            return
        self.forced = True
        self._give_up()

    def threads_ended(self) -> dict[str, dict[str, int]] | None:
        """How its threads ended, by its log: until its load was ended, if it was. None where it was
        not started, or remote engines have the threads."""
        if self._thread_ends is None and self.process and not self.remote:
            log = Path(self.jmeter_log or "")
            lines = log.open(errors="replace") if log.is_file() else contextlib.nullcontext(())
            with lines as opened:
                self._thread_ends = thread_ends(opened)
        return self._thread_ends

    def _give_up(self) -> None:
        """Have it give up its requests, or end it by force."""
        if (self._send(b"StopTestNow") and self._ends_within(TO_GIVE_UP_S)) or self._ends_within(0):
            return
        self.log.info("%s: JMeter goes on: ending it by force", self.label)
        self._signal(signal.SIGTERM)
        if not self._ends_within(TO_WRITE_S):
            self._signal(signal.SIGKILL)
            self.process.wait()

    def _set_remote_port(self) -> None:
        """Have a free port in the place of bzt's choice, which another JMeter may have."""
        self.management_port = lock.free_port(socket.SOCK_DGRAM)

    def _output(self) -> str:
        """What JMeter said at its start; scripts of the plan may have said much since."""
        with Path(self.stdout.name).open(errors="replace") as output:
            return output.read(1 << 20)

    def _announced_port(self) -> int | None:
        """Where this JMeter listens, as it has said itself: no other one is to be ended."""
        found = LISTENS.search(self._output())
        return int(found[1]) if found else None

    def _send(self, message: bytes) -> bool:
        port = self._announced_port()
        if port is None or self.process.poll() is not None:
            return False
        with socket.socket(type=socket.SOCK_DGRAM) as channel:
            channel.sendto(message, ("127.0.0.1", port))
        return True

    def _signal(self, number: signal.Signals) -> None:
        """To JMeter and all that it has started, while it lives."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def _ends_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.process is not None and self.process.poll() is None:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.1)
        return True

    def _ask_for_variables(self) -> None:
        """Add to whatever variables the samples are to have TESTSTART.MS, which is the zero of
        every schedule and without which the lateness of all samples would be unknown, and what
        their traces are known by. Raises TaurusConfigError."""
        scenario = self.get_scenario()
        own, usual = scenario.get("properties"), self.settings.get("properties")
        stated = str(own.get(VARIABLES, usual.get(VARIABLES, "")) or "")
        names = [name for name in stated.split(",") if name]  # JMeter takes no blanks off
        way = own.get(traceparent.PROPERTY, usual.get(traceparent.PROPERTY, traceparent.USUAL))
        if str(way) not in traceparent.WAYS:
            raise TaurusConfigError(
                f"{self.label}: the property {traceparent.PROPERTY} is {str(way)!r}: write "
                "unsampled, sampled or off"
            )
        self._flags = traceparent.WAYS[str(way)]
        ours = [TEST_START, *([traceparent.VARIABLE] if self._flags else [])]
        own[VARIABLES] = ",".join([*names, *(name for name in ours if name not in names)])
        scenario["properties"] = own

    def _JMeterExecutor__force_hc4_cookie_handler(self, jmx: object) -> None:  # noqa: N802
        """Leave cookie managers as the plan has them; bzt would write its own choice over theirs,
        which JMeter has made its default since."""
