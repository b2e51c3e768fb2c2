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
import math
import re
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

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


@dataclass
class Answer:
    """What an engine answered. hashes: of the files asked for, in order, None where it can't read
    one. offset_ms: of its clock against this one, ahead above 0, and by how much it may be wrong.
    began_s: when its first sample was seen, in s from the start of the JMeter that asked."""

    host: str
    facts: machine.Facts | None = None
    hashes: list[str | None] = field(default_factory=list)
    offset_ms: float = math.nan
    uncertainty_ms: float = math.inf
    began_s: float = 0.0


def plan_text(files: Iterable[str]) -> str:
    """files: paths as the engines have them, which may hold functions of JMeter."""
    contents = [f"${{__FileToString({path},ISO-8859-1)}}" for path in files]
    template = Template(_PLAN.read_text("utf-8"), autoescape=True, trim_blocks=True)
    hashes = ((DATA, f"${{__digest(SHA-256,{content},,,)}}") for content in contents)
    samplers = [(FACTS, f"${{__P({machine.FACTS})}}"), *hashes]
    return template.render(group=_GROUP, samplers=samplers, clocks=CLOCKS, clock=CLOCK)


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
    with (folder / "engines.out").open("w") as out:
        streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, cwd=folder, **streams) as process:
            try:
                lines = _followed(process, samples, 1 + len(hosts) * (1 + len(files) + CLOCKS))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(END_S)
            finally:
                process.kill()  # unless it has ended
    answers = _answers(lines, hosts, began_ms)
    silent = [
        it.host
        for it in answers
        if not it.facts or len(it.hashes) < len(files) or math.isnan(it.offset_ms)
    ]
    if silent:
        raise machine.EngineError(_why(silent, log))
    return answers


def _followed(process: subprocess.Popen, path: Path, count: int) -> list[tuple[float, float, str]]:
    """Each line, and the moments at which it was not yet seen and was seen (epoch ms), until there
    are so many, or it has ended."""
    found: list[tuple[float, float, str]] = []
    deadline = time.monotonic() + PATIENCE_S
    rest, before, file = "", time.time() * 1000, None
    try:
        while time.monotonic() < deadline and len(found) < count:
            is_over = process.poll() is not None
            now = time.time() * 1000
            if file is None and path.is_file():
                file = path.open(encoding="utf-8", newline="")
            text = file.read() if file else ""
            if text:
                seen = time.time() * 1000
                *whole, rest = (rest + text).split("\n")
                found += [(before, seen, line) for line in whole]
            elif is_over:
                break
            before = now
            time.sleep(LOOK_S)
    finally:
        if file:
            file.close()
    return found


def _answers(
    lines: Sequence[tuple[float, float, str]], hosts: Sequence[str], began_ms: float
) -> list[Answer]:
    found = {host: Answer(host) for host in hosts}
    clocks: dict[str, list[tuple[float, float, int, int]]] = {host: [] for host in hosts}
    names = next(csv.reader(line for *_, line in lines), [])
    for before, seen, line in lines[1:]:
        row = dict(zip(names, next(csv.reader([line]), []), strict=False))
        host = row.get("threadName", "").partition(f"-{_GROUP} ")[0]
        if host not in found:
            continue
        answer, message = found[host], row["responseMessage"]
        if row["label"] == FACTS:
            answer.facts = machine.Facts.of_text(message, f"engine {host}: ")
            answer.began_s = (seen - began_ms) / 1000
        elif row["label"] == DATA:
            answer.hashes.append(None if message == _UNREAD_HASH else message)
        else:
            start = int(row["timeStamp"])
            clocks[host].append((before, seen, start, start + int(row["elapsed"])))
    for host, looks in clocks.items():
        low, high = bounds(looks)
        found[host].offset_ms, found[host].uncertainty_ms = (low + high) / 2, abs(high - low) / 2
    return [*found.values()]


def bounds(looks: Sequence[tuple[float, float, int, int]]) -> tuple[float, float]:
    """The least and the most by which an engine's clock can be ahead, in ms.

    looks: of each sample, in order, the moments of this clock at which it was not yet seen and was
    seen, and its start and end by the engine's. A sample ends before it is seen, and the next one
    starts after it was written down, which was after it had not yet been seen. Whole milliseconds
    are cut off of the engine's. (nan, nan) for no two samples.
    """
    if len(looks) < 2:
        return math.nan, math.nan
    low = max(end - seen for _, seen, _, end in looks)
    high = min(later[2] + 1 - earlier[0] for earlier, later in pairwise(looks))
    return low, high


def _why(silent: Sequence[str], log: Path) -> str:
    """Why some hosts did not answer, from what JMeter has logged: of the first that it names, for
    one of them is enough to have it ask none."""
    text = log.read_text(errors="replace") if log.is_file() else ""
    blocks = re.split(r"^(?=\d{4}-\d\d-\d\d )", text, flags=re.M)
    errors = [" ".join(it.split()) for it in blocks if " ERROR " in it or " WARN " in it]
    host = next((it for it in silent if any(it in block for block in errors)), silent[0])
    for block in sorted(errors, key=lambda it: host not in it):
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
    return sorted(answers, key=lambda it: it.facts.number)


def _problems(
    answer: Answer,
    of: int,
    known: Mapping[int, str],
    here: machine.Facts,
    files: Mapping[str, Mapping[int, str]],
) -> Iterator[str]:
    """known: the hosts that are asked for already, by their numbers."""
    facts, again = answer.facts, "and start it again"
    if facts.of != of:
        yield f"it was started as {facts.number}/{facts.of}, and ENGINES names {of}"
    elif facts.number in known:
        yield (
            f"it and {known[facts.number]} were started as {facts.number}/{facts.of}: renumber one"
        )
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
