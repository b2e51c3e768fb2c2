"""Remote engines, each on a host of its own: a network namespace with an address."""

from __future__ import annotations

import csv
import json
import math
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import support
from e2e.bzt_run import LENIENT, Finished, Run, mostly_right, seconds
from support.hosts import Hosts, hosts
from support.project_copy import copy_project
from tollgate.run import engines, manifest

pytestmark = [pytest.mark.needs("network namespaces"), pytest.mark.alone]
OF, PORT = 4, 1099
WARMUP, RATE, RARE_RATE = 5, 12.5, 0.04
#: Engines are started one after the other, which on a busy machine takes seconds.
MEASURED = 90
ROWS = 2000
PLAN = Path(__file__).with_name("shared.jmx")
KEY = engines.KEYSTORE.relative_to(support.ROOT)


class Remote:
    """An engine on host `number`, in a checkout of its own."""

    def __init__(self, folder: Path, network: Hosts, number: int, key: Path) -> None:
        self.root = copy_project(folder / f"engine-{number}")
        self.number, self.network = number, network
        self.process: subprocess.Popen | None = None
        write_rows(self.root)
        shutil.copy2(key, self.root / KEY)

    @property
    def host(self) -> str:
        return f"{self.network.address(self.number)}:{PORT}"

    def start(self, *prefix: str) -> None:
        """Until it waits for work."""
        said = self.root / "engine.out"
        folder = self.root / engines.FOLDER.relative_to(support.ROOT) / f"{self.number}-of-{OF}"
        log = folder / "jmeter.log"
        log.unlink(missing_ok=True)
        with said.open("w") as out:
            self.process = subprocess.Popen(
                [
                    *(
                        *self.network.inside(self.number),
                        *prefix,
                        str(self.root / "scripts/engine"),
                    ),
                    *(f"{self.number}/{OF}", "--port", str(PORT)),
                    *("--address", self.network.address(self.number)),
                    *("--plans", str(self.root / "theirs")),
                ],
                env=support.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        support.wait_until(
            lambda: (
                self.process.poll() is not None
                or (log.is_file() and "Remote" in log.read_text() and "Bound to" in log.read_text())
            ),
            f"engine {self.number} waits for work",
        )
        assert self.process.poll() is None, said.read_text()

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(support.PATIENCE)


def write_rows(root: Path) -> None:
    """The plan of both sides, and its data file."""
    (root / "theirs").mkdir(parents=True)
    (root / "theirs" / PLAN.name).write_bytes(PLAN.read_bytes())
    (root / "theirs" / "items.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(ROWS)))


class Site:
    """The controller's checkout on host 0, and the engines."""

    def __init__(self, folder: Path, network: Hosts) -> None:
        self.folder, self.network = folder, network
        self.root = copy_project(folder / "controller")
        write_rows(self.root)
        made = support.run(self.root / "scripts" / "engine", "keystore")
        assert made.returncode == 0, made.stdout + made.stderr
        numbers = range(1, OF + 1)
        self.engines = [Remote(folder, network, k, self.root / KEY) for k in numbers]

    def run(self, name: str) -> Run:
        """A service of this project's, that listens on the controller's address."""
        config = {
            "~execution": [{"scenario": "shop"}],
            "scenarios": {
                "shop": {"script": str(self.root / "theirs" / PLAN.name), "target": "fork"}
            },
            "~reporting": [
                {"module": "verdict"},
                {"module": "passfail", "criteria": mostly_right("item")},
            ],
            "modules": {"verdict": LENIENT, "load": {"rows": "split"}},
        }
        (self.folder / name).mkdir()
        return Run(
            self.folder / name,
            *seconds(WARMUP, MEASURED),
            config=config,
            root=self.root,
            inside=self.network.inside(0),
            HOST=self.network.address(0),
            ENGINES=",".join(it.host for it in self.engines),
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with hosts(OF) as network:
        made = Site(tmp_path_factory.mktemp("engines"), network)
        try:
            for each in made.engines:
                each.start()
            yield made
        finally:
            for each in made.engines:
                each.end()


@pytest.fixture(scope="module")
def finished(site: Site) -> Finished:
    """A run of all engines."""
    return site.run("whole").end()


def samples(folder: Path) -> list[dict[str, str]]:
    with (folder / "kpi.jtl").open(newline="") as jtl:
        return list(csv.DictReader(jtl))


def by_engine(folder: Path, site: Site) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list] = {each.host: [] for each in site.engines}
    for row in samples(folder):
        found[row["threadName"].partition("-")[0]].append(row)
    return found


def test_the_verdict_is_that_of_the_whole_load(finished, site):
    assert finished.code == 0, finished.output
    (execution,) = finished.verdict["executions"]
    intended = [
        {it["labels"][0]: it["intended"] for it in each["schedules"]}
        for each in execution["engines"]
    ]
    length_s = WARMUP + MEASURED
    assert sum(it["item"] for it in intended) == math.ceil(RATE * length_s)
    assert sum(it["rare"] for it in intended) == math.ceil(RARE_RATE * length_s)
    for each in execution["engines"]:
        assert all(0 < it["sent"] <= it["intended"] for it in each["schedules"])
    again = support.run(site.root / ".venv/bin/tollgate", "judge", finished.folder, "--json")
    assert json.loads(again.stdout) == finished.verdict


def test_each_engine_is_told_with_its_host_and_its_clock(finished, site):
    record = manifest.read(finished.folder)
    assert [it["host"] for it in record.engines] == [it.host for it in site.engines]
    # They are of one machine, and so are their clocks.
    assert all(abs(it["offset_ms"]) <= it["uncertainty_ms"] + 5 for it in record.engines)
    own = [manifest.read(finished.folder / it["folder"]).share for it in record.engines]
    assert [(it["number"], it["of"]) for it in own] == [(k, OF) for k in range(1, OF + 1)]


def test_no_row_is_sent_by_two_engines(finished, site):
    sent = [
        {row["URL"].rpartition("/")[2] for row in rows if row["label"] == "item"}
        for rows in by_engine(finished.folder, site).values()
    ]
    assert all(sent)
    assert max(Counter(it for each in sent for it in each).values()) == 1


@pytest.mark.usefixtures("finished")
def test_an_engine_that_dies_is_named_with_the_second(site):
    run = site.run("killed").until("requests read")
    lost = site.engines[1]
    jtl = run.folder / "kpi.jtl"
    support.wait_until(lambda: jtl.is_file() and jtl.stat().st_size > 4000, "samples come")
    lost.end(signal.SIGKILL)
    done = run.end()
    assert done.code == 1
    assert done.verdict["verdict"] == "INVALID"
    assert f"engine 2/{OF} ({lost.host})" in done.reasons()
    lost.start()


@pytest.mark.usefixtures("finished")
def test_an_engine_that_is_cut_off_is_named_with_the_second(site):
    run = site.run("cut").until("requests read")
    jtl = run.folder / "kpi.jtl"
    support.wait_until(lambda: jtl.is_file() and jtl.stat().st_size > 4000, "samples come")
    site.network.cut_off(3)
    try:
        done = run.end()
    finally:
        site.network.join(3)
    assert done.verdict["verdict"] == "INVALID"
    assert f"engine 3/{OF} ({site.engines[2].host})" in done.reasons()
    site.engines[2].end(signal.SIGKILL)
