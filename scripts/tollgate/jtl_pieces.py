"""The index of a JTL whose finished part was compacted: which bytes stand in which piece.

Beside `kpi.jtl` then stands `kpi.pieces/` with `000001.parquet`, ... and `index.json`. What the
index names is read from the pieces, everything after it from the JTL: at the same offset as ever,
or, once the run has ended and the JTL was shortened, right after its header.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from tollgate.jtl_layout import JtlError

NAME = "index.json"
#: Raised when the meaning of an index changes.
VERSION = 1
CHUNK = 1 << 20
RESTORE_HELP = "restore the folder from where the run was archived, or run again"


@dataclass(frozen=True)
class Piece:
    """Bytes [start, end) of the JTL as JMeter wrote it, all of them whole records.

    lines: how many newlines they hold; rows: how many samples. sha256 is the file's, text_sha256
    that of the bytes. encoding: `ascii`, or `latin-1` where each character stands for a byte.
    whole: numbers of the columns that are stored as whole numbers.
    """

    file: str
    start: int
    end: int
    lines: int
    rows: int
    sha256: str
    text_sha256: str
    encoding: str
    whole: tuple[int, ...]


@dataclass(frozen=True)
class Index:
    """header: the JTL's first line. ended: the JTL's size in bytes before and after it was
    shortened to header and tail; None while it may still grow."""

    header: bytes
    pieces: tuple[Piece, ...] = ()
    ended: tuple[int, int] | None = None

    @property
    def end(self) -> int:
        """The first byte that is in no piece, as JMeter counts them."""
        return self.pieces[-1].end if self.pieces else len(self.header)

    @property
    def rows(self) -> int:
        return sum(piece.rows for piece in self.pieces)

    @property
    def lines(self) -> int:
        """Of all pieces and the header."""
        return 1 + sum(piece.lines for piece in self.pieces)


def folder_of(jtl: str | Path) -> Path:
    return Path(jtl).with_suffix(".pieces")


def index_of(jtl: str | Path) -> Path:
    return folder_of(jtl) / NAME


def read_index(jtl: str | Path) -> Index | None:
    """The index of a JTL, None if it was never compacted. Raises JtlError."""
    path = index_of(jtl)
    try:
        raw = json.loads(path.read_text("ascii"))
        if raw.pop("version") != VERSION:
            raise JtlError(path, f"was not written by this Tollgate, which reads {VERSION}")
        index = _index(raw)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, JtlError):
            raise
        raise JtlError(path, f"cannot be read: {error}", help_=RESTORE_HELP) from error
    _check(path, jtl, index)
    return index


def write_index(jtl: Path, index: Index) -> None:
    """Put the index in its place, whole or not at all, also when the power fails."""
    raw = {"version": VERSION, **asdict(index), "header": index.header.decode("latin-1")}
    growing = index_of(jtl).with_suffix(".tmp")
    with growing.open("w", encoding="ascii") as file:
        json.dump(raw, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    growing.replace(index_of(jtl))
    sync_folder(growing.parent)


def tail_start(jtl: str | Path, index: Index | None, header_bytes: int) -> int:
    """Where in the JTL as it is now the samples begin that are in no piece. Raises JtlError."""
    if index is None:
        return header_bytes
    size = Path(jtl).stat().st_size
    before, after = index.ended or (size, None)
    if size == after:
        return header_bytes
    if size != before or size < index.end:
        problem = f"holds {size} bytes, which is not what {index_of(jtl)} says"
        raise JtlError(jtl, problem, help_=RESTORE_HELP)
    return index.end


def count_samples(jtl: Path) -> int:
    """How many samples a JTL holds, pieces included; line breaks in messages count as samples."""
    index = read_index(jtl)
    with jtl.open("rb") as file:
        header = len(file.readline())
        file.seek(tail_start(jtl, index, header))
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(CHUNK), b""))
    return lines + (index.rows if index else 0)


def digest(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _index(raw: dict) -> Index:
    pieces = [Piece(**{**each, "whole": tuple(each["whole"])}) for each in raw["pieces"]]
    ended = tuple(raw["ended"]) if raw["ended"] else None
    return Index(raw["header"].encode("latin-1"), tuple(pieces), ended)


def _check(path: Path, jtl: str | Path, index: Index) -> None:
    """Refuses an index that leaves a gap, and one of another JTL."""
    expected = len(index.header)
    for number, piece in enumerate(index.pieces, 1):
        if piece.file != f"{number:06}.parquet" or piece.start != expected:
            problem = f"names {piece.file!r} from byte {piece.start} on where {expected} is due"
            raise JtlError(path, problem, help_=RESTORE_HELP)
        expected = piece.end
    with Path(jtl).open("rb") as file:
        if file.read(len(index.header)) != index.header:
            problem = f"begins with another line than {path} says"
            raise JtlError(jtl, problem, line=1, help_=RESTORE_HELP)
