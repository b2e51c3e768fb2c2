"""The service `compaction`, its process, a process that writes as JMeter does, and bzt's reader."""

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError
from bzt.modules.aggregator import DataPoint, KPISet
from bzt.modules.jmeter import JTLReader

import support
from jtl_rows import HEADER
from jtl_text import compacting, readings, text_of, usual
from tollgate import compact
from tollgate.compact_punch import can_punch
from tollgate.compaction import Compaction
from tollgate.jtl_pieces import count_samples, folder_of, read_index

MIB = 1 << 20
PIECE = 100_000
needs_holes = pytest.mark.skipif(bool(can_punch(Path.cwd())), reason="no holes on this file system")

#: Appends a file to another one in chunks that end anywhere, as JMeter's buffer does, a chunk for
#: each line on its standard input; then ends.
WRITER = """
import os, sys
content = open(sys.argv[1], "rb").read()
file = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
for _ in sys.stdin:
    os.write(file, content[:8192])
    content = content[8192:]
os.write(file, content)
"""
NO_HOLES = """
import errno, os
from tollgate import compact, compact_punch
def refuse(*_):
    raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
compact_punch._fallocate = refuse
compact.main()
"""


class Process:
    """JMeter as bzt sees it."""

    code = None

    def poll(self):
        return self.code


@pytest.fixture
def started(tmp_path, caplog):
    """Makes the service over one execution that writes tmp_path/kpi.jtl; ends what is left."""
    caplog.set_level(logging.INFO)
    made = []

    def start(piece=PIECE, command=None, path=tmp_path / "kpi.jtl"):
        service = Compaction()
        executor = SimpleNamespace(
            label="fork",
            kpi_jtl=str(path),
            reader=JTLReader(str(path), logging.getLogger("bzt")),
            process=Process(),
        )
        provisioning = SimpleNamespace(executors=[executor])
        service.engine = SimpleNamespace(provisioning=provisioning)
        service.settings.merge({"piece-mib": piece / MIB})
        if command:
            service.command = command
        service.prepare()
        made.append(service)
        return service, executor

    yield start
    for service in made:
        if service.child:
            service.child.kill()
            service.child.communicate()


def read_on(executor, final=False) -> int:
    """Let bzt read what there is, as its aggregator does; how many samples it told of."""
    points = executor.reader.datapoints(final)
    return sum(point[DataPoint.CURRENT][""][KPISet.SAMPLE_COUNT] for point in points)


def idle(service) -> bool:
    """Look again as bzt does; true if nothing is being compacted and nothing is left to."""
    service.check()
    return service.child is None


def warnings(caplog) -> list[str]:
    return [it.getMessage() for it in caplog.records if it.levelno >= logging.WARNING]


@needs_holes
def test_a_file_that_grows_is_compacted_and_neither_bzt_nor_a_reader_loses_a_sample(
    tmp_path, started, caplog
):
    # bzt 1.17 stumbles over a message of two lines of which it has read one.
    content, path = usual(30_000, 'said "no", and went'), tmp_path / "kpi.jtl"
    (tmp_path / "meant.jtl").write_bytes(content)
    expected = readings(tmp_path / "meant.jtl")
    service, executor = started()
    words = [sys.executable, "-c", WRITER, str(tmp_path / "meant.jtl"), str(path)]
    told, most = 0, 0
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True) as writer:
        for number in range(len(content) // 8192):
            print("go on", file=writer.stdin, flush=True)
            size = (number + 1) * 8192
            support.wait_until(lambda: path.exists() and path.stat().st_size == size, "it is there")  # noqa: B023
            told += read_on(executor)
            service.check()
            if number % 20 == 19:  # as often as not while a process works
                support.wait_until(lambda: idle(service), "nothing is left to compact")
                most = max(most, path.stat().st_blocks * 512)
        writer.stdin.close()
    support.wait_until(lambda: (read_on(executor) == 0) and idle(service), "all is compacted")
    assert len(read_index(path).pieces) > 10
    assert most < len(content) / 2
    assert path.stat().st_size == len(content)
    executor.process.code = 0
    service.shutdown()
    assert path.stat().st_size < PIECE + len(HEADER) + 1
    told += read_on(executor, final=True)
    assert executor.reader.read_records == expected["rows"] == count_samples(path) == 30_000
    assert readings(path) == expected
    assert text_of(path) == content
    assert warnings(caplog) == []


def test_what_bzt_has_not_read_yet_is_left_alone(tmp_path, started):
    path = tmp_path / "kpi.jtl"
    path.write_bytes(usual(5_000))
    service, executor = started()
    service.check()
    assert service.child is None
    executor.reader.csvreader.file.offset = read = 2 * PIECE + 5_000
    support.wait_until(lambda: idle(service), "all that was read is compacted")
    index = read_index(path)
    assert PIECE < index.end <= read


def test_a_run_of_some_minutes_stays_as_it_is(tmp_path, started, caplog):
    path, content = tmp_path / "kpi.jtl", usual(2_000)
    path.write_bytes(content)
    before = path.stat()
    service, executor = started(piece=len(content) // 2 + 1)
    while read_on(executor):
        service.check()
    service.check()
    executor.process.code = 0
    service.shutdown()
    assert (path.stat(), path.read_bytes()) == (before, content)
    assert [it.name for it in tmp_path.iterdir()] == ["kpi.jtl"]
    assert caplog.messages == []


def test_the_default_leaves_files_up_to_64_mib_alone():
    service = Compaction()
    service.engine = SimpleNamespace(provisioning=SimpleNamespace(executors=[]))
    service.prepare()
    assert 2 * service.piece_bytes == 64 * MIB


def test_without_hole_punching_the_file_stays_whole_until_the_run_has_ended(
    tmp_path, started, caplog
):
    path, content = tmp_path / "kpi.jtl", usual(10_000)
    path.write_bytes(content)
    expected = readings(path)
    service, executor = started(command=(sys.executable, "-c", NO_HOLES))
    while read_on(executor):
        support.wait_until(lambda: idle(service), "the process has said that it can't")
    service.check()
    assert path.read_bytes() == content
    assert not folder_of(path).exists()
    executor.process.code = 0
    service.shutdown()
    assert len(read_index(path).pieces) == len(content) // PIECE
    assert path.stat().st_size < PIECE + len(HEADER) + 1
    assert readings(path) == expected
    assert text_of(path) == content
    reason = "Operation not supported"
    assert warnings(caplog) == [
        f"compaction: kpi.jtl is compacted when the run has ended: {reason}"
    ]


def test_a_damaged_line_stops_the_compaction_of_its_file_with_one_warning(
    tmp_path, started, caplog
):
    path, content = tmp_path / "kpi.jtl", usual(6_000)
    cut = content.index(b",true,", 2 * PIECE + 20_000)
    path.write_bytes(content[:cut] + b"," + content[cut:])
    service, executor = started()
    executor.reader.csvreader.file.offset = path.stat().st_size
    support.wait_until(lambda: idle(service), "the process has met the line")
    service.check()
    assert service.child is None
    executor.process.code = 0
    service.shutdown()
    assert len(read_index(path).pieces) == 2
    assert text_of(path) == content[:cut] + b"," + content[cut:]
    [said] = warnings(caplog)
    assert said.startswith("compaction: kpi.jtl keeps what is in no piece yet as text: cannot be r")


def test_a_second_execution_is_compacted_beside_the_first(tmp_path, started):
    service, first = started()
    _, second = started(path=tmp_path / "kpi-1.jtl")
    service.engine.provisioning.executors.append(second)
    for executor in (first, second):
        Path(executor.kpi_jtl).write_bytes(usual(4_000))
        executor.reader.csvreader.file.offset = len(usual(4_000))
    support.wait_until(lambda: idle(service), "both are compacted")
    for executor in (first, second):
        assert read_index(executor.kpi_jtl).pieces
        executor.process.code = 0
    service.shutdown()
    for executor in (first, second):
        assert text_of(executor.kpi_jtl) == usual(4_000)


def test_an_execution_that_never_began_is_no_reason_to_fail(started, caplog):
    service, executor = started()
    executor.process = None
    service.check()
    service.shutdown()
    executor.reader = executor.kpi_jtl = None
    service.check()
    service.shutdown()
    assert caplog.messages == []


def test_a_file_that_jmeter_may_still_write_to_is_not_shortened(tmp_path, started, caplog):
    path = tmp_path / "kpi.jtl"
    path.write_bytes(usual(5_000))
    service, _ = started()
    service.shutdown()
    assert path.read_bytes() == usual(5_000)
    assert warnings(caplog) == ["compaction: kpi.jtl stays as it is: JMeter still runs"]


def test_nothing_is_compacted_any_more_once_an_impatient_person_has_ended_it(
    tmp_path, started, monkeypatch
):
    path = tmp_path / "kpi.jtl"
    path.write_bytes(usual(5_000))
    sleeping = (sys.executable, "-c", "import time; time.sleep(600)")
    service, executor = started(command=sleeping)
    executor.process.code = 0

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(service, "_ended", interrupted)
    children = []
    start = service._start
    monkeypatch.setattr(service, "_start", lambda *it: (start(*it), children.append(service.child)))
    with pytest.raises(KeyboardInterrupt):
        service.shutdown()
    assert [child.returncode for child in children] == [-9]


#: Fails as on a full disk as long as a file is there; counts how often.
FAILS = """
import os, signal, sys
from pathlib import Path
from tollgate import compact, compact_piece
reason = Path(sys.argv[1]).with_name("reason")
def fail(*_):
    with reason.with_name("failed").open("a") as failed:
        failed.write("x")
    if reason.read_text() == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise OSError(28, "No space left on device")
if reason.exists():
    compact.write_piece = fail
compact.main()
"""


@needs_holes
@pytest.mark.parametrize("reason", ["full", "killed"])
def test_a_process_that_fails_is_told_of_once_and_tried_again(tmp_path, started, caplog, reason):
    path, content = tmp_path / "kpi.jtl", usual(10_000)
    path.write_bytes(content)
    (tmp_path / "reason").write_text(reason)
    service, executor = started(command=(sys.executable, "-c", FAILS))
    follows = executor.reader.csvreader.file
    for read in (2 * PIECE, 3 * PIECE - 1, 3 * PIECE):
        follows.offset = read
        support.wait_until(lambda: idle(service), "the process has failed")
    assert (tmp_path / "failed").read_text() == "xx"
    (tmp_path / "reason").unlink()
    follows.offset = 4 * PIECE
    support.wait_until(lambda: idle(service), "there is room again")
    assert len(read_index(path).pieces) == 3
    executor.process.code = 0
    service.shutdown()
    assert text_of(path) == content
    [said] = warnings(caplog)
    why = {"full": "[Errno 28] No space left on device", "killed": "exit code -9"}[reason]
    assert said == f"compaction: kpi.jtl is not compacted for now, and loses nothing: {why}"


def test_a_last_process_that_fails_is_told_of_as_well_and_loses_nothing(tmp_path, started, caplog):
    path = tmp_path / "kpi.jtl"
    path.write_bytes(usual(5_000))
    (tmp_path / "reason").write_text("full")
    service, executor = started(command=(sys.executable, "-c", FAILS))
    executor.process.code = 0
    service.shutdown()
    [said] = warnings(caplog)
    assert said.endswith(
        "is not compacted for now, and loses nothing: [Errno 28] No space left on device"
    )
    assert path.read_bytes() == text_of(path) == usual(5_000)


def test_a_disk_too_full_to_try_a_hole_is_a_line_and_no_trace(tmp_path):
    path = tmp_path / "kpi.jtl"
    path.write_bytes(usual(5_000))
    full = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
"""
    ended = compacting(path, "--until", 4 * PIECE, "--piece-bytes", PIECE, code=full)
    assert (ended.returncode, ended.stderr) == (compact.FAILED, "[Errno 27] File too large\n")
    assert text_of(path) == usual(5_000)


@pytest.mark.parametrize("size", [0, -1, "many", True, None])
def test_a_size_that_makes_no_sense_is_refused_before_the_run(size):
    service = Compaction()
    service.engine = SimpleNamespace()
    service.settings.merge({"piece-mib": size})
    with pytest.raises(TaurusConfigError, match=r"compaction: piece-mib is .*, give a number of"):
        service.prepare()


def test_the_process_is_out_of_reach_of_the_terminals_interrupt(tmp_path, started):
    path = tmp_path / "kpi.jtl"
    path.write_bytes(usual(5_000))
    service, executor = started(command=(sys.executable, "-c", "input()"))
    executor.reader.csvreader.file.offset = len(usual(5_000))
    service._start(service._file(executor))
    assert os.getpgid(service.child.pid) == service.child.pid != os.getpgid(0)


def test_the_module_is_what_the_service_starts(tmp_path):
    path = tmp_path / "kpi.jtl"
    path.write_bytes(usual(3_000))
    words = [*Compaction.command, str(path), "--piece-bytes", str(PIECE), "--final"]
    assert subprocess.run(words, check=False).returncode == 0
    assert read_index(path).ended
    assert text_of(path) == usual(3_000)
    assert compact.REFUSED != compact.CANNOT_PUNCH
