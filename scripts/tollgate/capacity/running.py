"""A search for capacity under way: each trial is drawn, appended to the file of arrivals some
moments before it is due, and measured once it is answered.

What came of a trial is read from the samples, by the same code as `tollgate judge` reads it.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tollgate.base import records
from tollgate.base.text import format_number
from tollgate.capacity.arrivals import END, TrialArrivals, drawn, row
from tollgate.capacity.model import Ask, Trial
from tollgate.capacity.record import CapacityRecord, TrialRecord, arrivals_path, record_path
from tollgate.capacity.search import ceiling_of, most_lost, next_ask, next_ceiling_ask
from tollgate.capacity.trials import trial_of
from tollgate.plan.iterations import Iteration
from tollgate.samples.growing import Growing
from tollgate.samples.layout import JtlError
from tollgate.samples.requests import trial_answers
from tollgate.workers.cpu import ProcessTree

#: Milliseconds before the first arrival of a trial, and before any other, that it is written down.
#: A thread of the plan without an arrival looks for one every 200 ms.
LEAD_MS, AHEAD_MS = 600, 1200
#: Seconds for a service that was overrun to accept connections again, for JMeter to read that it is
#: to end, and behind the timeouts of requests for their samples to be written.
RECOVERY_S, END_S, LATE_ANSWERS_S = 20.0, 10.0, 3.0
#: Trials one after the other without a good answer, of a service that has had some: it hangs.
SILENT = 2
#: Sent to the server that does nothing, and not counted, so often at most, until JMeter's code is
#: compiled.
WARM_UP, WARM_UPS = Ask(0, "ceiling", 200.0, 4.0), 3
#: Properties of the plan that limit how long a response may take, in ms, with their defaults.
DEFAULTS = {"threads": 200, "response_timeout": 5000, "connect_timeout": 2000}


class Search:
    """The search of one execution, a step at a time."""

    def __init__(
        self,
        executor: Any,
        folder: Path,
        record: CapacityRecord,
        samples: Growing,
        log: logging.Logger,
        clock: Callable[[], float] = time.time,
        iteration: Iteration | None = None,
    ) -> None:
        """iteration: what an arrival sends where it is more than a request."""
        self.executor, self.record, self.log, self.clock = executor, record, log, clock
        properties = executor.properties
        numbers = [float(properties.get(it, value)) for it, value in DEFAULTS.items()]
        self.threads, *timeouts_ms = numbers
        self.pause_s = iteration.pause_s if iteration else 0.0
        self.longest_s = iteration.longest_s if iteration else sum(timeouts_ms) / 1000
        self.path = record_path(folder, executor.label)
        self.arrivals_file = arrivals_path(folder, executor.label)
        self.samples = samples
        self.ceilings: list[Trial] = []
        self.trials: list[Trial] = []
        self.running: Running | None = None
        self.drawn, self.next_arrival = 0, 1
        self.warm_ups_left = WARM_UPS
        self.answered, self.silent = 0.0, 0
        self.waits_since: float | None = None
        self.over_at: float | None = None
        self.cpu = ProcessTree(executor.process.pid)

    def go_on(self, now: float) -> None:
        """What is to be done by now, in seconds since the epoch."""
        if self.over_at is not None:
            if now > self.over_at + END_S and not self.executor.is_over:
                self.executor.stop_now()
        elif self.running is None:
            if self._accepts(now):
                self._begin()
        else:
            self.running.feed(now)
            if self.running.is_answered(now):
                self._measure(self.running, now)

    def _accepts(self, now: float) -> bool:
        """Whether the service accepts connections: it may have died of the last trial. Ends the
        search where it has not come back."""
        host, port = (self.executor.properties.get(name) for name in ("host", "port"))
        if None in (host, port):  # of targets that the plan alone knows
            return True
        try:
            with socket.create_connection((str(host), int(port)), timeout=0.5):
                self.waits_since = None
                return True
        except OSError:
            self.waits_since = self.waits_since or now
            if now > self.waits_since + RECOVERY_S:
                last = self.trials[-1].ask.rate if self.trials else 0
                self._end(
                    f"the service accepts no connections any more, {RECOVERY_S:g} s after a trial "
                    f"at {format_number(last)}/s"
                )
            return False

    def _next(self) -> Ask | None:
        ask = None if self.trials else next_ceiling_ask(self.ceilings)
        return ask or next_ask(self.record.settings, ceiling_of(self.ceilings), self.trials)

    def _begin(self) -> None:
        ask = WARM_UP if self.warm_ups_left else self._next()
        if ask is None:
            self._end()
            return
        began_s = self.clock() + LEAD_MS / 1000  # to think takes a while
        self.drawn += 1
        of, seed = self.record.asked, self.record.settings.seed
        arrivals = drawn(ask, self.drawn, self.next_arrival, round(1000 * began_s), of, seed)
        self.next_arrival += len(arrivals)
        self.running = Running(self, ask, arrivals, began_s)
        self.running.feed(self.clock())

    def _measure(self, running: Running, now: float) -> None:
        try:
            with self.samples.read() as store:
                answers = trial_answers(store, running.arrivals.trial, of_passes=self.record.passes)
        except JtlError as problem:
            self.log.warning("capacity: no look at the samples: %s", problem)
            self._end(str(problem))
            return
        if len(answers["arrival"]) < len(running.arrivals) and now < running.deadline_s:
            running.look_at = now + LEAD_MS / 1000  # a line of the file is not always a sample
            return
        self.running = None
        ask, arrivals, began_ms = running.ask, running.arrivals, round(1000 * running.began_s)
        done = TrialRecord(arrivals.trial, ask, began_ms, running.seconds, running.cores(now))
        record = replace(self.record, trials=(*self.record.trials, done))
        trial = trial_of(done, arrivals, answers, record)
        self.log.debug("capacity: %s", trial)
        if not ask.number:
            self.warm_ups_left = 0 if trial.sound else self.warm_ups_left - 1
            return
        self.record = record
        if ask.purpose == "ceiling":
            self.ceilings.append(trial)
        else:
            self.trials.append(trial)
            self._hear(trial, bool(answers["ok"].any()))
        records.write(self.path, self.record)

    def _hear(self, trial: Trial, is_heard: bool) -> None:
        """End the search of a service that has given good answers, and gives none any more."""
        self.silent = 0 if is_heard else self.silent + 1
        if is_heard:
            self.answered = trial.ask.rate
        elif self.answered and self.silent == SILENT:
            self._end(
                f"no request of {SILENT} trials was answered rightly after one at "
                f"{format_number(self.answered)}/s: the service hangs, or fails for good"
            )

    def _end(self, problem: str = "") -> None:
        """Have the plan end, and the record say that nothing follows."""
        self.record = replace(self.record, problem=problem, is_over=not problem)
        records.write(self.path, self.record)
        self.append(row(f"{self.drawn + 1},{self.next_arrival},0,{END},"))
        self.over_at, self.running = self.clock(), None

    def append(self, rows: str) -> None:
        """Have JMeter read these as well."""
        with self.arrivals_file.open("a") as file:
            file.write(rows)

    def position(self, elapsed_s: float) -> str:
        """`search 7, 131/s; 82 s`."""
        at = "between two trials"
        if self.running:
            ask = self.running.ask
            at = f"{ask.purpose} {ask.number}, {format_number(ask.rate)}/s"
        return f"{at}; {elapsed_s:.0f} s"


class Running:
    """A trial under way."""

    def __init__(self, search: Search, ask: Ask, arrivals: TrialArrivals, began_s: float) -> None:
        self.search, self.ask, self.arrivals, self.began_s = search, ask, arrivals, began_s
        self.seconds = ask.seconds
        self.written = self.answered = self.failed = 0
        self.look_at = 0.0
        settings, count = search.record.settings, len(arrivals)
        self.most_waiting, self.most_failed = most_lost(settings, ask.rate, count, search.pause_s)
        self.jtl = Path(search.executor.kpi_jtl)
        self.read_bytes = self.jtl.stat().st_size
        self.cpu_s, self.cpu_at = search.cpu.cpu_s(), search.clock()
        self.used: float | None = None

    @property
    def deadline_s(self) -> float:
        """From when on no more answers come: each thread has waited for as many as there may be."""
        rounds = 1 + len(self.arrivals) // int(self.search.threads)
        return self.began_s + self.seconds + rounds * self.search.longest_s + LATE_ANSWERS_S

    def feed(self, now: float) -> None:
        """Write down what is due soon, unless the service is overrun already."""
        self._read()
        if self.written == len(self.arrivals):
            if self.used is None and now >= self.began_s + self.seconds:
                self.cores(now)
            return
        due = self.arrivals.until(1000 * now)
        if len(due) - self.answered > self.most_waiting or self.failed > self.most_failed:
            last_ms = float(self.arrivals.due_ms[self.written - 1])
            self.arrivals = self.arrivals.first_of(self.written)
            self.seconds = min(self.seconds, max(0.1, (last_ms + 1) / 1000 - self.began_s))
            return
        high = len(self.arrivals.until(1000 * now + AHEAD_MS))
        if high > self.written:
            self.search.append(self.arrivals.rows(self.written, high))
            self.written = high

    def _read(self) -> None:
        with self.jtl.open("rb") as file:
            file.seek(self.read_bytes)
            new = file.read()
        self.read_bytes += len(new)
        self.answered += new.count(b"\n")
        self.failed += new.count(b",false,")

    def is_answered(self, now: float) -> bool:
        """Whether it is over, and there is something to read."""
        over_s = max(self.began_s + self.seconds, self.look_at)
        is_sent = self.written >= len(self.arrivals) and now >= over_s
        return is_sent and (self.answered >= len(self.arrivals) or now >= self.deadline_s)

    def cores(self, now: float) -> float:
        """CPU time of the generator while the trial went on, in cores."""
        if self.used is None:
            self.used = (self.search.cpu.cpu_s() - self.cpu_s) / max(now - self.cpu_at, 0.1)
        return round(self.used, 3)
