"""An engine's host: the key that it shares with all others, what it has installed, and its rows.

JMeter's remote engines (`jmeter -s`) run any plan that an owner of the key sends them. A
controller hands the same properties to all of them. An engine therefore knows its own number, and
has the rows of each data file that this number sends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tollgate.base.paths import STATE, SUITE
from tollgate.base.text import UserError
from tollgate.install.tools import jmeter_home
from tollgate.plan.data_files import Feed
from tollgate.plan.jmx import PlanError
from tollgate.plan.properties import ARGUMENTS
from tollgate.record.environment import java_version, jmeter_version
from tollgate.record.manifest import digest
from tollgate.schedule.share import Share, ShareError
from tollgate.schedule.share_rows import HOW, read_feeds, read_rows, write_rows

KEYSTORE = STATE / "engines.keystore"
#: Where each engine of this suite keeps its rows and its log.
FOLDER = STATE / "engines"
#: Where the plans stand by which a controller with the same suite names data files.
PLANS = SUITE / "plans"
#: JMeter's own: what keeps the key is the file's mode.
PASSWORD = "changeit"  # noqa: S105
PORT = 1099
#: Arguments of the JMeter that drives engines: samples are handed over each second, or a hundred at
#: once; what has not been is lost with its engine.
BATCHES = ("-Jmode=StrippedBatch", "-Jnum_sample_threshold=100", "-Jtime_threshold=1000")
#: The properties by which an engine knows its number, how many there are, where its rows stand, and
#: the facts of its host.
NUMBER, OF, ROWS, FACTS = "engine", "engines", "engine.rows", "engine.facts"


class EngineError(UserError, ValueError):
    """One line: what is in the way of an engine, and what to do."""


def make_keystore(path: Path = KEYSTORE) -> None:
    """Make the key of all engines and their controller, for this user's eyes alone. Raises
    EngineError where there is one."""
    if path.exists():
        raise EngineError(
            f"{path} is there already, and engines that have a copy of it would no longer be "
            "trusted: remove it first if that is meant"
        )
    path.parent.mkdir(exist_ok=True)
    growing = path.with_suffix(".growing")
    growing.unlink(missing_ok=True)
    command = ["keytool", "-genkeypair", "-keyalg", "RSA", "-keysize", "3072", "-alias", "rmi"]
    command += ["-dname", "CN=tollgate engines", "-validity", "36500"]
    command += ["-keystore", str(growing), "-storepass", PASSWORD]
    done = subprocess.run(command, capture_output=True, text=True, check=False, umask=0o077)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["it said nothing"]
        raise EngineError(f"keytool could not make the key: {lines[-1]}")
    growing.replace(path)


def check_keystore(path: Path = KEYSTORE) -> None:
    """Raises EngineError where this host has no key, or one that others may read."""
    if not path.is_file():
        raise EngineError(
            f"{path} is missing: make it by `tollgate engine keystore`, and copy it to each host"
        )
    if path.stat().st_mode & 0o077:
        raise EngineError(f"{path} can be read by other users: chmod 600 {path}")


def tls(address: str, path: Path = KEYSTORE) -> list[str]:
    """Arguments by which a JMeter of either side shows this key, trusts no other one, and is
    reached, and listens, at an address alone."""
    return [
        f"-Jserver.rmi.ssl.keystore.file={path}",
        f"-Jserver.rmi.ssl.truststore.file={path}",
        f"-Jserver.rmi.ssl.keystore.password={PASSWORD}",
        f"-Jserver.rmi.ssl.truststore.password={PASSWORD}",
        "-Jserver.rmi.ssl.keystore.alias=rmi",
        "-Jserver.rmi.ssl.disable=false",
        f"-Djava.rmi.server.hostname={address}",
    ]


def command(share: Share, address: str, port: int, folder: Path, facts: Facts) -> list[str]:
    """What starts an engine's JMeter; its callers are asked to reach `port` and the one behind it.
    folder: the engine's own, as `place` leaves it."""
    return [
        *(str(jmeter_home() / "bin" / "jmeter"), "-s", "-j", str(folder / "jmeter.log")),
        *tls(address),
        f"-Jserver_port={port}",
        f"-Jserver.rmi.localport={port + 1}",
        f"-J{NUMBER}={share.number}",
        f"-J{OF}={share.of}",
        f"-J{ROWS}={folder}",
        f"-J{FACTS}={facts.to_text()}",
        *ARGUMENTS,
    ]


@dataclass(frozen=True)
class Facts:
    """What a host says of itself. plugins: SHA-256 of the names and contents of JMeter's lib/ext.
    plans: SHA-256 of the project's plan files, by their paths."""

    number: int
    of: int
    jmeter: str
    java: str
    plugins: str
    plans: dict[str, str]
    cpu: str
    cores: int

    def to_text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def of_text(cls, text: str, who: str = "") -> Facts:
        """who: gave the text, e.g. `engine 10.0.0.11:1099: `. Raises EngineError."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            raise EngineError(f"{who}it says {text[:60]!r}: run `tollgate engine` there") from None

    def differences(self, other: Facts) -> Iterator[str]:
        """What must be the same of the host that this one is compared with, each in a line."""
        for name, what in (("jmeter", "JMeter"), ("java", "Java")):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                yield f"its {what} is {its}, and here it is {mine}"
        if self.plugins != other.plugins:
            yield "the jars in lib/ext of its JMeter are others"
        for path in sorted({*self.plans, *other.plans}):
            if self.plans.get(path) != other.plans.get(path):
                yield f"its {path} is another one"


def facts_here(share: Share, cpu: str, cores: int) -> Facts:
    """Those of this host."""
    plans = {it.relative_to(SUITE).as_posix(): digest(it) for it in sorted(PLANS.rglob("*.jmx"))}
    jars = sorted((jmeter_home() / "lib" / "ext").glob("*.jar"))
    listed = "".join(f"{jar.name} {digest(jar)}\n" for jar in jars)
    plugins = hashlib.sha256(listed.encode()).hexdigest()
    return Facts(
        share.number,
        share.of,
        jmeter=jmeter_version(),
        java=java_version(),
        plugins=plugins,
        plans=plans,
        cpu=cpu,
        cores=cores,
    )


def place(share: Share, plans: Path, folder: Path) -> None:
    """Write the engine's rows of each data file that a plan in a folder names by a property, both
    ways in which rows are shared, each way into a folder of its own. Left out is what can't be
    read, or has too few rows: a run of such a plan is refused."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seen: dict[str, Feed] = {}
    for path in sorted(plans.glob("*.jmx")):
        with contextlib.suppress(PlanError, ShareError):
            for feed in read_feeds(path, {}):
                seen.setdefault(feed.named_by, feed)
    for name, feed in seen.items():
        for how in HOW if name else ():
            with contextlib.suppress(ShareError):
                write_rows(feed, read_rows(feed, share, how), folder / how)
