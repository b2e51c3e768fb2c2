"""Asks remote engines, through themselves, what they have and what their clocks show.

A small plan of JMeter's own samplers and functions runs on all of them: one sample returns the
facts that the engine was started with, one for each data file its SHA-256, and many that take no
time return the clock. These go to the controller one by one, each when the one before it has been
written down, so that each is between two moments of the controller's clock: when the one before it
was not yet seen, and when it was.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import re
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from jinja2 import Template

from tollgate.engines import machine
from tollgate.install.tools import jmeter_home

FACTS, DATA, CLOCK = "facts", "data", "clock"
#: Looks at an engine's clock; the best of them counts.
CLOCKS = 100
#: Seconds between two looks at what has been written down.
LOOK_S = 0.001
#: Seconds for all of it, two starts of a JVM's classes on a busy machine, and for JMeter to end: it
#: never does where an engine was done before another one had begun.
PATIENCE_S, END_S = 90.0, 3.0
#: By so many ms a clock may be ahead or behind; more, and nothing here could be put beside there.
WRONG_MS = 1000.0
_GROUP = "ask"
_UNREADABLE = "**ERR**"
_PLAN = Path(__file__).with_name("probe.jmx.jinja")
#: What the controller's JMeter logs where an engine does not answer, and what to do then.
_HINTS = {
    "(?i:certificate)|certification path|handshake": "it has another key, or none that this "
    f"machine trusts: copy {machine.KEYSTORE} to it and start it again",
    "busy": "it is busy with another run and free when that ends; if nothing waits for that run, "
    "stop the engine (Ctrl-C) and start it again",
    "refused": "nothing listens there: start it by `tollgate engine`",
}


@dataclass(frozen=True)
class Answer:
    """What an engine answered."""

    host: str
    facts: machine.Facts
    hashes: Sequence[str | None]
    """Of the files asked for, in order, None where it can't read one."""
    offset_ms: float
    """Of its clock against this one, ahead above 0."""
    uncertainty_ms: float
    """By how much the offset may be wrong."""
    began_s: float = 0.0
    """When its first sample was seen, in s from the start of the JMeter that asked."""


class Line(NamedTuple):
    """A line that JMeter wrote, and the moments (epoch ms) at which it was not yet seen and was."""

    before_ms: float
    seen_ms: float
    text: str


class Sample(NamedTuple):
    """A sample of an engine, between two moments of this clock (epoch ms)."""

    before_ms: float
    """It was not yet seen."""
    seen_ms: float
    start_ms: int
    """By the engine's clock."""
    end_ms: int
    label: str = CLOCK
    message: str = ""


def plan_text(files: Iterable[str]) -> str:
    """files: paths as the engines have them, which may hold functions of JMeter."""
    contents = [f"${{__FileToString({path},ISO-8859-1)}}" for path in files]
    template = Template(_PLAN.read_text("utf-8"), autoescape=True, trim_blocks=True)
    hashes = ((DATA, f"${{__digest(SHA-256,{content},,,)}}") for content in contents)
    samplers = [(FACTS, f"${{__P({machine.FACTS})}}"), *hashes]
    return str(template.render(group=_GROUP, samplers=samplers, clocks=CLOCKS, clock=CLOCK))


def hash_of(content: bytes) -> str:
    """What the plan returns of a file with this content: JMeter's digest is of the UTF-8 of a text,
    and each byte is a character of it."""
    return hashlib.sha256(content.decode("latin-1").encode()).hexdigest()


_UNREAD_HASH = hash_of(_UNREADABLE.encode())


def ask(hosts: Sequence[str], address: str, files: Collection[str], folder: Path) -> list[Answer]:
    """What each host answers. address: of this machine, for their answers. files: see plan_text.
    folder: for the plan and what came of it. Raises EngineError, one line that names a host."""
    plan, samples, log = (folder / f"engines.{it}" for it in ("jmx", "jtl", "log"))
    plan.write_text(plan_text(files), encoding="utf-8")
    command = [
        *(str(jmeter_home() / "bin" / "jmeter"), "-n", "-t", str(plan), "-l", str(samples)),
        *("-j", str(log), "-R", ",".join(hosts), *machine.tls(address)),
        *("-Jmode=Standard", "-Jjmeter.save.saveservice.autoflush=true"),
        *("-Jjmeter.save.saveservice.output_format=csv", "-Jsummariser.name="),
        *("-Jjmeterengine.nongui.port=0", "-Jjmeter.exit.check.pause=0"),
    ]
    began_ms = time.time() * 1000
    with (
        (folder / "engines.out").open("w") as out,
        subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            lines = _followed(process, samples, 1 + len(hosts) * (1 + len(files) + CLOCKS))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
        finally:
            process.kill()  # unless it has ended
    answers = _answers(lines, hosts, len(files), began_ms)
    silent = [host for host in hosts if host not in answers]
    if silent:
        raise machine.EngineError(_why(silent, log))
    return [answers[host] for host in hosts]


def _followed(process: subprocess.Popen[bytes], path: Path, count: int) -> list[Line]:
    """The lines of a growing file, until there are so many, or the process has ended."""
    lines: list[Line] = []
    deadline = time.monotonic() + PATIENCE_S
    rest, before, file = "", time.time() * 1000, None
    try:
        while time.monotonic() < deadline and len(lines) < count:
            is_over = process.poll() is not None
            now = time.time() * 1000
            if file is None and path.is_file():
                file = path.open(encoding="utf-8", newline="")
            text = file.read() if file else ""
            if text:
                seen = time.time() * 1000
                *whole, rest = (rest + text).split("\n")
                lines += [Line(before, seen, text) for text in whole]
            elif is_over:
                break
            before = now
            time.sleep(LOOK_S)
    finally:
        if file:
            file.close()
    return lines


def _answers(
    lines: Sequence[Line], hosts: Sequence[str], files: int, began_ms: float
) -> dict[str, Answer]:
    """By host, of those that have answered all they were asked. files: how many they were asked
    for. began_ms: when the JMeter that asks was started."""
    samples: dict[str, list[Sample]] = {host: [] for host in hosts}
    names = next(csv.reader(line.text for line in lines), [])
    for before_ms, seen_ms, text in lines[1:]:
        row = dict(zip(names, next(csv.reader([text]), []), strict=False))
        host = row.get("threadName", "").partition(f"-{_GROUP} ")[0]
        if host in samples:
            start_ms, label = int(row["timeStamp"]), row["label"]
            end_ms, message = start_ms + int(row["elapsed"]), row["responseMessage"]
            samples[host].append(Sample(before_ms, seen_ms, start_ms, end_ms, label, message))
    answers = (_answer(host, mine, began_ms) for host, mine in samples.items())
    return {each.host: each for each in answers if each and len(each.hashes) >= files}


def _answer(host: str, samples: Sequence[Sample], began_ms: float) -> Answer | None:
    """None of an engine that has not said who it is, or what its clock shows."""
    who = next((sample for sample in samples if sample.label == FACTS), None)
    clocks = [sample for sample in samples if sample.label == CLOCK]
    if who is None or len(clocks) < 2:
        return None
    hashes = [sample.message for sample in samples if sample.label == DATA]
    low_ms, high_ms = bounds(clocks)
    return Answer(
        host,
        facts=machine.Facts.of_text(who.message, f"engine {host}: "),
        hashes=[None if text == _UNREAD_HASH else text for text in hashes],
        offset_ms=(low_ms + high_ms) / 2,
        uncertainty_ms=abs(high_ms - low_ms) / 2,
        began_s=(who.seen_ms - began_ms) / 1000,
    )


def bounds(samples: Sequence[Sample]) -> tuple[float, float]:
    """The least and the most by which an engine's clock can be ahead, in ms, from two samples or
    more in their order.

    A sample ends before it is seen, and the next one starts after it was written down, which was
    after it had not yet been seen. Whole milliseconds are cut off of the engine's clock.
    """
    low_ms = max(sample.end_ms - sample.seen_ms for sample in samples)
    pairs = pairwise(samples)
    high_ms = min(later.start_ms + 1 - earlier.before_ms for earlier, later in pairs)
    return low_ms, high_ms


def _why(silent: Sequence[str], log: Path) -> str:
    """Why some hosts did not answer, from what JMeter has logged: of the first that it names, for
    one of them is enough to have it ask none."""
    text = log.read_text(errors="replace") if log.is_file() else ""
    blocks = re.split(r"^(?=\d{4}-\d\d-\d\d )", text, flags=re.M)
    errors = [" ".join(it.split()) for it in blocks if " ERROR " in it or " WARN " in it]
    host = next((it for it in silent if any(it in block for block in errors)), silent[0])
    for block in sorted(errors, key=lambda error: host not in error):
        for pattern, hint in _HINTS.items():
            if re.search(pattern, block):
                return f"engine {host}: {hint}"
    return f"engine {host}: it sent no answer: see {log}"


def check(
    answers: Sequence[Answer], here: machine.Facts, files: Mapping[str, Mapping[int, str]]
) -> list[Answer]:
    """The answers in the order of the engines' numbers. files: of each that was asked for, its hash
    by engine. Raises EngineError, which names each host whose answer is another one, and what is
    the first such thing of it."""
    hosts: dict[int, str] = {}
    wrong = []
    for answer in answers:
        problem = next(_problems(answer, len(answers), hosts, here, files), None)
        hosts.setdefault(answer.facts.number, answer.host)
        wrong += [f"engine {answer.host}: {problem}"] if problem else []
    if wrong:
        raise machine.EngineError("; ".join(wrong))
    return sorted(answers, key=lambda answer: answer.facts.number)


def _problems(
    answer: Answer,
    engines: int,
    hosts: Mapping[int, str],
    here: machine.Facts,
    files: Mapping[str, Mapping[int, str]],
) -> Iterator[str]:
    """engines: how many there should be. hosts: those that were looked at before, by their
    numbers."""
    facts, again = answer.facts, "and start it again"
    place = f"{facts.number}/{facts.of}"
    if facts.of != engines:
        yield f"it was started as {place}, and ENGINES names {engines}"
    elif facts.number in hosts:
        yield f"it and {hosts[facts.number]} were started as {place}: renumber one"
    if abs(answer.offset_ms) - answer.uncertainty_ms > WRONG_MS:
        way = "ahead" if answer.offset_ms > 0 else "behind"
        yield f"its clock is {abs(answer.offset_ms) / 1000:.1f} s {way}: set it by NTP"
    for difference in here.differences(facts):
        yield f"{difference}: bring its suite to the same state, {again}"
    for (path, hashes), its in zip(files.items(), answer.hashes, strict=True):
        if its != hashes.get(facts.number):
            state = "it can't read" if its is None else "other than here are the rows of"
            name = path.rpartition("}")[2]
            yield f"{state} {name}: bring its data files to the same state, {again}"
