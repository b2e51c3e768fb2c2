"""What a verdict holds for: the machine, the versions, and the variables that were set.

app/settings.js, app/balancer/settings.js and ecosystem.config.js read the variables of the service,
Node some by itself; the others choose what is run, and go before the settings.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from pydantic import with_config
from typing_extensions import TypedDict  # Pydantic takes no other before Python 3.12

from tollgate.base.attempts import VARIABLE as ATTEMPTS
from tollgate.base.fields import WRITTEN, Digest, Whole
from tollgate.base.paths import SUITE
from tollgate.install.tools import jmeter_home, node_package
from tollgate.record.manifest import digest
from tollgate.record.redaction import Redaction

#: What changes the service: figures under different values are not comparable.
SERVICE = (
    *("INJECT_DELAY_MS", "INJECT_WORK_PERCENT"),
    *("HEAD_INJECT_DELAY_MS", "HEAD_INJECT_WORK_PERCENT"),
    *("USE_RANDOM_DELAY", "USE_CHILD_PROCESSES", "KITTENS_LEAK", "PI_POINTS", "LOG_REQUESTS"),
    *("BALANCER_UPSTREAMS", "BALANCER_TIMEOUT_MS", "MEMORY_LIMIT", "RELOAD_EVERY"),
    *("NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "UV_THREADPOOL_SIZE", "LD_PRELOAD"),
)
#: What gives the generator's JVM its options, in the order in which they win: JMeter's launcher
#: reads HEAP and JVM_ARGS, each JVM the others.
GENERATOR = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "HEAP", "JVM_ARGS", "_JAVA_OPTIONS")
#: What chooses the load, its targets and its judge.
_RUN = (
    *("MODE", "SCALE", "PLAN", "PLAN_HOST", "CRITERIA", "STOP_AFTER", "ENGINE", "ENGINES"),
    *("START_AT", "BASE", "BASE_URL", "HEAD_URL", ATTEMPTS),
)


@with_config(WRITTEN)
class Versions(TypedDict):
    """Versions of the parts; `unknown` where one could not be found."""

    tollgate: str
    """Version of the Python package tollgate."""
    node: str
    """Version of Node."""
    java: str
    """Version of the JVM that runs JMeter."""
    jmeter: str
    """Version of Apache JMeter."""
    taurus: str
    """Version of bzt."""
    pm2: str
    """Version of PM2."""
    python: str
    """Version of Python."""


@with_config(WRITTEN)
class Environment(TypedDict):
    """The machine and the versions that a result holds for."""

    cpu: str
    """Model name of the first CPU."""
    cores: Whole | None
    """Logical CPUs; null where the system does not say."""
    memory_bytes: Whole
    """Physical memory in bytes."""
    os: str
    """Name, release and architecture of the operating system."""
    versions: Versions
    """Versions of the parts; `unknown` where one could not be found."""
    commit: str
    """Commit of the checkout, `-dirty` behind it if files differ from it; `unknown` without git."""
    variables: dict[str, str]
    """The environment variables that chose what is run or changed the service or the generator, by
    name; those that were not set are left out."""
    plans: dict[str, Digest]
    """SHA-256 of each plan file and of what it includes, in hexadecimal, by its path below the
    run's folder `plan`."""


def fingerprint(plans: Path | None = None) -> Environment:
    """CPU model, cores, memory, versions, commit, the variables that were set for the run, and the
    SHA-256 of each plan file. plans: the folder that holds the run's plans, None where there is no
    plan."""
    hashes = {}
    if plans:
        # By their paths, for two fragments may share a name, and an included file may have any.
        files = sorted(path for path in plans.rglob("*") if path.is_file())
        hashes = {path.relative_to(plans).as_posix(): digest(path) for path in files}
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "versions": versions(),
        "commit": commit(),
        "variables": variables(os.environ),
        "plans": hashes,
    }


def versions() -> Versions:
    """Of the parts that a run uses."""
    return {
        "tollgate": metadata.version("tollgate"),
        "node": _version("node", "--version"),
        "java": java_version(),
        "jmeter": jmeter_version(),
        "taurus": metadata.version("bzt"),
        "pm2": pm2_version(),
        "python": platform.python_version(),
    }


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that are set, by name, without what is secret in URLs and among Java's options. An
    empty variable counts as unset, as it does for the apps."""
    text = Redaction().text
    names = (*_RUN, *SERVICE, *GENERATOR)
    return {name: text(environment[name]) for name in names if environment.get(name)}


def cpu_model() -> str:
    """The model name of the first CPU, as the system gives it."""
    known = Path("/proc/cpuinfo")
    text = known.read_text() if known.is_file() else ""
    if found := re.search(r"^model name\s*:\s*(.+)$", text, re.M):
        return found[1]
    return _output("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()


def jmeter_version(home: Path | None = None) -> str:
    """The version in the manifest of a JMeter home's core jar, by default of the one in use,
    without starting a JVM."""
    jar = (home or jmeter_home()) / "lib" / "ext" / "ApacheJMeter_core.jar"
    try:
        with zipfile.ZipFile(jar) as opened:
            text = opened.read("META-INF/MANIFEST.MF").decode()
    except (OSError, KeyError, zipfile.BadZipFile):
        return "unknown"
    found = re.search(r"^Implementation-Version: *(\S+)", text, re.M)
    return found[1] if found else "unknown"


def java_version() -> str:
    """Of the Java on PATH, which JMeter runs on."""
    return _version("java", "-version")


def pm2_version() -> str:
    """The version of PM2."""
    try:
        return str(json.loads((node_package("pm2") / "package.json").read_text())["version"])
    except (OSError, ValueError, KeyError):
        return "unknown"


def commit() -> str:
    """The commit that the checkout stands at, `-dirty` behind it if files differ from it."""
    git = "git", "-C", str(SUITE)
    revision = _output(*git, "rev-parse", "HEAD")
    dirty = revision and _output(*git, "status", "--porcelain")
    return f"{revision or 'unknown'}{'-dirty' if dirty else ''}"


def _version(*command: str) -> str:
    # Java first says which options it picked up from the environment, with numbers of their own.
    said = re.sub(r"^(NOTE: )?Picked up .*$", "", _output(*command), flags=re.M)
    found = re.search(r"\d+(\.\d+)*", said)
    return found[0] if found else "unknown"


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    said = (done.stdout or done.stderr).decode("utf-8", "replace").strip()
    return said if done.returncode == 0 else ""
