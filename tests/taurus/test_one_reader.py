"""All modules of a run read the samples of an execution through one reader."""

import logging
import time
from types import SimpleNamespace

from bzt.utils import BetterDict

from support import run_folder
from tollgate.taurus.early_stop import EarlyStop
from tollgate.taurus.progress import Progress
from tollgate.taurus.shared import RunUnderWay, samples_of

TRIPS = "p50 of nap>10s over 2s"


class Executor(SimpleNamespace):
    __hash__ = object.__hash__


def begun(module, engine):
    module.log, module.engine = logging.getLogger("test"), engine
    module.startup()
    return module


def test_interim_decisions_and_progress_read_each_byte_of_the_file_once(tmp_path, scans):
    record = run_folder.make(tmp_path, (TRIPS,), interim=None)
    jtl, whole = tmp_path / run_folder.JTL, run_folder.recorded()
    executor = Executor(
        label="nap",
        kpi_jtl=str(jtl),
        start_time=time.time() - 1000,
        process=SimpleNamespace(poll=lambda: None),
        is_over=False,
        begins_at=0.0,
        properties=BetterDict(),
    )
    engine = SimpleNamespace(
        artifacts_dir=str(tmp_path),
        provisioning=SimpleNamespace(executors=[executor]),
        run_under_way=RunUnderWay(manifest=record),
    )
    stopping, progress = begun(EarlyStop(), engine), begun(Progress(), engine)
    header = whole.index(b"\n") + 1
    for share in (0.3, 0.6, 1.0):
        jtl.write_bytes(whole[: max(header, int(share * len(whole)))])
        progress.said_at = stopping.watches[executor].not_before = 0.0
        stopping.watches[executor].decider._next_at = 0.0
        progress.check()
        stopping.check()
    assert progress.counts[executor].read == whole.count(b"\n") - 1
    assert samples_of(engine, executor).rows == progress.counts[executor].read
    new = [(begin, end) for begin, end in scans if end > begin + 200]  # half a row comes again
    assert len(new) == 3
    assert sum(end - begin for begin, end in new) <= len(whole) + 3 * 200
