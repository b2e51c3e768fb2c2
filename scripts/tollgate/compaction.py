"""Taurus service `compaction`: keeps the samples of a long run small while it goes on.

Settings, under modules.compaction in taurus.yml:

    piece-mib: 32    MiB of text that become one Parquet file; compaction begins at twice that

Below that a run stays as it always was: kpi.jtl, whole. Beyond it, whatever bzt has read of kpi.jtl
moves to kpi.pieces/, piece by piece, and its disk blocks are given back under JMeter's hands. The
work is done by tollgate/compact.py in a process of its own, so that bzt's loop and memory stay as
they are. When JMeter has ended, kpi.jtl is shortened to its header and the samples in no piece: in
`shutdown`, which bzt calls for all modules before any reporter seals and judges in `post_process`.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bzt import TaurusConfigError
from bzt.engine import Service

from tollgate import compact
from tollgate.jtl_layout import JtlError
from tollgate.jtl_pieces import index_of, read_index

#: Some 240,000 samples, which is two row groups of DuckDB's: they compress well, and the process
#: that compacts them takes 240 MB and a second. At 1,000 samples a second that is one in four
#: minutes, and 48 hours make 730 pieces.
PIECE_MIB = 32
MIB = 1 << 20


@dataclass
class _File:
    """One JTL. done: bytes in pieces. stopped: the exit code with which a process said that
    nothing more can be compacted while JMeter writes. asked: up to which byte a process was to
    compact. has_failed: it met what may go well another time, again_at: with so many bytes."""

    path: Path
    done: int = 0
    stopped: int = 0
    asked: int = 0
    has_failed: bool = False
    again_at: int = 0


class Compaction(Service):
    """Starts one process at a time that compacts the part of a JTL that bzt has read."""

    #: What a test puts in the place of the interpreter and the module.
    command = (sys.executable, "-m", "tollgate.compact")

    def __init__(self) -> None:
        super().__init__()
        self.piece_bytes = PIECE_MIB * MIB
        self.files: dict[str, _File] = {}
        self.child: subprocess.Popen | None = None
        self.working_on: _File | None = None

    def prepare(self) -> None:
        """Raises TaurusConfigError for a size that makes no sense."""
        super().prepare()
        given = self.settings.get("piece-mib", PIECE_MIB)
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not given > 0:
            problem = (
                f"compaction: piece-mib is {given!r}, give a number of MiB such as {PIECE_MIB}"
            )
            raise TaurusConfigError(problem)
        self.piece_bytes = max(1, int(given * MIB))

    def check(self) -> bool:
        """Start compacting where a piece has come together, unless a process still does."""
        if self.child and self.child.poll() is not None:
            self._ended()
        if not self.child:
            for file, read in self._growing():
                least = max(2 * self.piece_bytes, file.done + self.piece_bytes, file.again_at)
                if read >= least:
                    file.asked = read
                    self._start(file, "--until", str(read))
                    break
        return super().check()

    def shutdown(self) -> None:
        """Shorten what was compacted; returns when no process works on a file any more."""
        super().shutdown()
        try:
            if self.child:
                self._ended()
            for executor in self.engine.provisioning.executors:
                self._finish(executor)
        finally:
            # An error or a first signal meanwhile: what is killed here has lost nothing, but must
            # not go on while the run is being sealed.
            if self.child:
                self.child.kill()
                self.child.communicate()
                self.child = None

    def _growing(self) -> list[tuple[_File, int]]:
        """Files that may be compacted, with how many bytes of each bzt has read."""
        found = []
        for executor in self.engine.provisioning.executors:
            # Only a reader of CSV has one; what it has not read yet must not become zeros.
            lines = getattr(getattr(executor, "reader", None), "csvreader", None)
            if lines and executor.kpi_jtl:
                file = self._file(executor)
                if not file.stopped:
                    found.append((file, lines.file.offset))
        return found

    def _file(self, executor: object) -> _File:
        return self.files.setdefault(executor.kpi_jtl, _File(Path(executor.kpi_jtl)))

    def _start(self, file: _File, *moment: str) -> None:
        size = ("--piece-bytes", str(self.piece_bytes))
        # A session of its own, because Ctrl-C goes to all processes of the terminal's.
        self.child = subprocess.Popen(
            [*self.command, str(file.path), *size, *moment],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self.working_on = file

    def _ended(self) -> None:
        """Wait for the process and say what it could not do."""
        _, said = self.child.communicate()
        code, file = self.child.returncode, self.working_on
        self.child = None
        reason = (said.strip().splitlines() or [f"exit code {code}"])[-1]
        if code in (compact.REFUSED, compact.CANNOT_PUNCH):
            self._stop(file, code, reason)
        elif code:
            self._failed(file, reason)
        try:
            index = read_index(file.path)
        except (JtlError, OSError) as error:
            self._stop(file, compact.REFUSED, str(error))
        else:
            file.done = index.end if index else 0

    def _stop(self, file: _File, code: int, reason: str) -> None:
        if file.stopped != code:  # once for each reason
            when = "is compacted when the run has ended"
            kept = "keeps what is in no piece yet as text"
            outcome = when if code == compact.CANNOT_PUNCH else kept
            self.log.warning("compaction: %s %s: %s", file.path.name, outcome, reason)
        file.stopped = code

    def _failed(self, file: _File, reason: str) -> None:
        if not file.has_failed:
            kept = "is not compacted for now, and loses nothing"
            self.log.warning("compaction: %s %s: %s", file.path.name, kept, reason)
        file.has_failed, file.again_at = True, file.asked + self.piece_bytes

    def _finish(self, executor: object) -> None:
        """Compact the rest of a long file and shorten it."""
        if not getattr(executor, "kpi_jtl", None):
            return
        file = self._file(executor)
        if not file.path.is_file():
            return
        size = file.path.stat().st_size
        if not index_of(file.path).is_file() and size < 2 * self.piece_bytes:
            return
        if executor.process and executor.process.poll() is None:
            self.log.warning("compaction: %s stays as it is: JMeter still runs", file.path.name)
            return
        self.log.info("Compacting %s", file.path.name)
        file.has_failed = False  # whether it goes well this last time is told in any case
        self._start(file, "--final")
        self._ended()
