"""From the CSV of a JTL to typed columns in a Parquet file, in one pass of DuckDB's.

DuckDB reads fast and in parallel, and only decides that something is wrong; check.py then finds
the line. Rows stay in the order of the file. Columns of the Parquet file:

    start_ms, elapsed_ms   epoch milliseconds; milliseconds
    ok, is_transaction     whether it succeeded; whether a Transaction Controller left the row
    label, code            the response code
    thread_group, number   the thread's name without the number at its end; that number, or -1
    latency_ms             to the first byte; of a sample that no byte answered its elapsed_ms
    connect_ms, bytes, threads    0 where the JTL has none
    test_start             TESTSTART.MS, NULL where the JTL has none
    trace                  the half of the id of its trace that was drawn for it, NULL where no
                           request was sent, or the JTL has none
    coin, block, worker, server   variables of the plan, each only where the JTL has it, as are
    trial, arrival, due           those of a search for capacity
    request                       the URL without the server, only where there is a coin and a URL
    failure                       what an assertion that failed said, also where another one made a
                                  success of it, or else the answer of a failed sample; else NULL
    unsent                        the URL of a request that never left JMeter, NULL of any other
"""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tollgate.samples.check import DAMAGED_HELP, Place, first_record, read_slowly
from tollgate.samples.layout import (
    EARLIEST_MS,
    LATEST_MS,
    NUMBERS,
    RECORD_BYTES,
    TIMES,
    JtlError,
    Layout,
)

#: Columns that a CSV scan gives as BIGINT.
BIGINTS = ("timeStamp", *NUMBERS)
#: The column of what was drawn for a sample's trace, and its length.
TRACE, TRACE_DIGITS = "tollgate_trace", 16
#: Variables of plans that the store keeps.
VARIABLES = ("coin", "block", "worker", "server", "trial", "arrival", "due")
# What JMeter's TransactionController puts into responseMessage, the only trace of its kind that
# every set of columns holds; with dataType on, that field is empty for a transaction.
TRANSACTION_MESSAGE = "Number of samples in transaction : "
# Columns of more values than that, such as times, are written as they are, without a dictionary to
# be tried first: a tenth less time.
_OPTIONS = "FORMAT parquet, DICTIONARY_SIZE_LIMIT 1000"
#: Characters of a failure's message that are kept.
FAILURE_WIDTH = 1000
#: Bytes that are read at a time.
_CHUNK = 1 << 20
#: A block that a file system lost reads as zeros: the row before it and the one behind it become
#: one, and those between are gone. A message may hold a zero, but no text so many in a row.
_LOST = bytes(8)


#: What JMeter writes in the place of a code, before the class of what it met.
_CODE = "Non HTTP response code: "
#: Of these a plan, its data or the names of hosts are the cause, where no byte was sent.
NEVER_SENT = (
    *("java.net.URISyntaxException", "java.net.MalformedURLException"),
    *("java.net.UnknownHostException", "java.io.FileNotFoundException"),
    *("java.nio.file.NoSuchFileException", "java.lang.IllegalArgumentException"),
    *("java.nio.charset.[A-Za-z]+Exception", "java.io.UnsupportedEncodingException"),
    *("org.apache.http.client.ClientProtocolException", "java.lang.NumberFormatException"),
    "org.apache.http.conn.UnsupportedSchemeException",
)
#: Without a connection nothing was sent either. It is the service's failure, unless the plan counts
#: it as a success.
UNCONNECTED = (
    *("java.net.ConnectException", "java.net.NoRouteToHostException"),
    *("org.apache.http.conn.HttpHostConnectException", "javax.net.ssl.[A-Za-z]+Exception"),
    "org.apache.http.conn.ConnectTimeoutException",
)


@dataclass(frozen=True)
class Piece:
    """What was read: `rows` samples up to the place `end`. cut: where a last record that is not
    whole begins, None if there is none."""

    rows: int
    end: Place
    cut: Place | None


def write_parquet(
    con: duckdb.DuckDBPyConnection,
    path: str | Path,
    layout: Layout,
    target: Path,
    begin: Place | None = None,
    grows: bool = False,
) -> Piece:
    """Write the whole samples from `begin` on, by default all of them, to a Parquet file.

    grows: whether JMeter still writes; what is added to the JTL meanwhile is not read. Raises
    JtlError at the first line that is not a sample, and duckdb.Error.
    """
    begin = begin or first_record(layout)
    size = Path(path).stat().st_size
    end = _survey(path, begin, size)
    con.execute("SET preserve_insertion_order=true")
    while True:
        cut = None if end.offset == size else end
        try:
            with _csv(path, layout, begin, end.offset, None if grows else size) as csv:
                query = f"SELECT {_columns_sql(layout)} FROM {csv}"
                copied = con.execute(f"COPY ({query}) TO {quoted(target)} ({_OPTIONS})")
                ((rows,),) = copied.fetchall()
        except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
            cut = read_slowly(path, layout, begin, end.offset).cut
            if cut is None:
                reason = str(error).splitlines()[0]
                problem = f"cannot be read: {reason}"
                raise JtlError(path, problem, help_=DAMAGED_HELP) from error
            end = cut
        else:
            # Quoted line breaks and blank lines: right, but only the slow reading can tell.
            if rows != end.line - begin.line:
                records = read_slowly(path, layout, begin, end.offset).records
                if records != rows:  # DuckDB lost one
                    problem = f"{rows} samples were read of {records} in the file"
                    raise JtlError(path, problem, help_=DAMAGED_HELP)
            return Piece(rows, end, cut)


def quoted(text: object) -> str:
    """A text, such as a path, as SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def _columns_sql(layout: Layout) -> str:
    start, elapsed = _column(layout, "timeStamp"), _column(layout, "elapsed")
    label, code = _column(layout, "label"), _column(layout, "responseCode")
    thread = _column(layout, "threadName", "''")
    # Without rtrim and groups of regular expressions, which take several times as long.
    digits = f"split_part({thread}, '-', -1)"
    has_number = f"(regexp_full_match({digits}, '[0-9]+') AND length({digits}) < length({thread}))"
    stem = f"left({thread}, length({thread}) - length({digits}) - 1)"
    columns = {
        "start_ms": start,
        "elapsed_ms": f"CASE WHEN {_valid_sql(layout)} THEN {elapsed}::INTEGER "
        "ELSE error('a value that JMeter does not write') END",
        "ok": f"{_column(layout, 'success')} = 'true'",
        "label": label,
        "is_transaction": f"starts_with({_column(layout, 'responseMessage', chr(39) * 2)}, "
        f"'{TRANSACTION_MESSAGE}') AND {_column(layout, 'dataType', chr(39) * 2)} = ''",
        "code": code,
        "thread_group": f"CASE WHEN {has_number} THEN {stem} ELSE {thread} END",
        # That number is a Java int.
        "number": f"CASE WHEN {has_number} THEN coalesce(TRY_CAST({digits} AS INTEGER), -1) "
        "ELSE -1 END",
        "latency_ms": _first_byte_sql(layout),
        "connect_ms": f"coalesce({_column(layout, 'Connect', '0')}, 0)",
        "bytes": f"coalesce({_column(layout, 'bytes', '0')}, 0)",
        "threads": f"coalesce({_column(layout, 'allThreads', '0')}, 0)",
        "test_start": _column(layout, "TESTSTART.MS", "NULL::BIGINT"),
        "trace": _trace_sql(layout),
        "failure": _failure_sql(layout),
        "unsent": _unsent_sql(layout),
        **{name: _column(layout, name) for name in VARIABLES if name in layout},
    }
    if is_of_requests(layout):
        url = _column(layout, "URL")
        columns["request"] = f"regexp_replace({url}, '^[a-zA-Z]+://[^/?]*', '')"
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items())


def _trace_sql(layout: Layout) -> str:
    """SQL for what plan/traceparent.py has drawn. It is drawn before any sampler, whatever that
    sends, and in a transaction's row it is the last sampler's."""
    drawn, url = (_column(layout, name, "''") for name in (TRACE, "URL"))
    is_drawn = f"length({drawn}) = {TRACE_DIGITS} AND starts_with({url}, 'http')"
    return f"CASE WHEN {is_drawn} THEN TRY_CAST('0x' || {drawn} AS UBIGINT) END"


def _failure_sql(layout: Layout) -> str:
    """SQL for why a sample failed. An assertion says more than the answer that it refused. One that
    ignores the status makes a success of a sample again that one before it has failed."""
    said, answered = (_column(layout, it, "''") for it in ("failureMessage", "responseMessage"))
    answer = f"CASE WHEN {_column(layout, 'success')} = 'false' THEN {answered} END"
    return f"left(coalesce(nullif({said}, ''), {answer}), {FAILURE_WIDTH})"


def _unsent_sql(layout: Layout) -> str:
    """SQL for the URL of a request that JMeter could not even send, '' where the JTL has none."""
    code, sent = _column(layout, "responseCode"), _column(layout, "sentBytes", "'0'")
    of_any, of_success = (_classes_sql(it) for it in (NEVER_SENT, UNCONNECTED))
    is_unsent = (
        f"regexp_full_match({code}, '{of_any}') OR {_column(layout, 'success')} = 'true' "
        f"AND regexp_full_match({code}, '{of_success}')"
    )
    url = f"left({_column(layout, 'URL', chr(39) * 2)}, {FAILURE_WIDTH})"
    return f"CASE WHEN {sent} = '0' AND ({is_unsent}) THEN {url} END"


def _classes_sql(classes: Sequence[str]) -> str:
    return f"{_CODE}({'|'.join(it.replace('.', '[.]') for it in classes)})"


def is_of_requests(layout: Layout) -> bool:
    """Whether the store has the column `request`."""
    return "coin" in layout and "URL" in layout


def _column(layout: Layout, name: str, otherwise: str = "NULL") -> str:
    """SQL for a column of the JTL; text that is empty is '' there, not NULL."""
    if name not in layout:
        return otherwise
    sql = f"c{layout.index(name)}"
    return sql if name in BIGINTS else f"coalesce({sql}, '')"


def _valid_sql(layout: Layout) -> str:
    """SQL that is true for what JMeter writes. elapsed is text: DuckDB would round `5.7` to 6."""
    start, elapsed = _column(layout, "timeStamp"), _column(layout, "elapsed")
    label, code = _column(layout, "label"), _column(layout, "responseCode")
    return (
        f"regexp_full_match({elapsed}, '[0-9]{{1,9}}') "
        f"AND {_column(layout, 'success')} IN ('true', 'false') "
        f"AND {start} >= {EARLIEST_MS} AND {start} < {LATEST_MS} "
        f"AND NOT contains({label}, chr(10)) AND NOT contains({code}, chr(10))"
        + "".join(f" AND coalesce({_column(layout, it, '0')}, 0) >= 0" for it in TIMES)
    )


def _first_byte_sql(layout: Layout) -> str:
    """SQL for the time to the first byte. JMeter writes 0 where no byte ever came, as at a timeout
    or a refused connection: the wait for it then was at least as long as the whole sample."""
    if "Latency" not in layout:
        return "0::BIGINT"
    latency, elapsed = _column(layout, "Latency"), _column(layout, "elapsed")
    success, code = _column(layout, "success"), _column(layout, "responseCode")
    no_answer = f"{success} = 'false' AND NOT regexp_full_match({code}, '[1-5][0-9][0-9]')"
    return (
        f"coalesce(CASE WHEN {latency} = 0 AND {no_answer} "
        f"THEN TRY_CAST({elapsed} AS BIGINT) ELSE {latency} END, 0)"
    )


def _survey(path: str | Path, begin: Place, size: int) -> Place:
    """The place behind the last newline, with which JMeter ends every line. Raises JtlError for a
    lost block, of which DuckDB says nothing."""
    read, end, line = begin.offset, begin.offset, begin.line
    lost: Place | None = None
    for chunk in _bytes(path, begin.offset, size):
        breaks = chunk.count(b"\n")
        if lost is None and b"\0" in chunk and _LOST in chunk:  # one byte is found faster
            place = chunk.index(_LOST)
            lost = Place(line + chunk.count(b"\n", 0, place), read + place)
        line += breaks
        end = read + chunk.rindex(b"\n") + 1 if breaks else end
        read += len(chunk)
    if lost and lost.offset < end:  # behind the last newline they are of a record that was cut off
        problem = "holds a block of zero bytes, in the place of samples that are lost"
        raise JtlError(path, problem, line=lost.line, help_=DAMAGED_HELP)
    return Place(line, end)


@contextmanager
def _csv(
    path: str | Path, layout: Layout, begin: Place, end: int, size: int | None
) -> Iterator[str]:
    """SQL for the table of the samples from `begin` on, up to byte `end`. size: of the file, None
    for one that grows.

    A part of a file goes through a pipe: a copy would need as much disk again, right after a crash
    that may have been a full disk. It has the header, for DuckDB takes the first line break for
    that of all lines.
    """
    is_all = begin == first_record(layout) and end == size
    if is_all and Path(path).stat().st_size == size:
        # By its descriptor: a path with * or [ in it would be a pattern.
        with Path(path).open("rb") as file:
            yield _csv_sql(f"/dev/fd/{file.fileno()}", layout)
        return
    header = _bytes(path, 0, layout.header_bytes)
    with _piped(itertools.chain(header, _bytes(path, begin.offset, end))) as name:
        yield _csv_sql(name, layout)


def _csv_sql(source: str, layout: Layout) -> str:
    """SQL for a table of the CSV at a path, numbers as BIGINT."""
    # Columns go by position: DuckDB's names ignore case, and a header may hold any text.
    types = ["BIGINT" if name in BIGINTS else "VARCHAR" for name in layout.columns]
    columns = ", ".join(f"'c{index}': '{kind}'" for index, kind in enumerate(types))
    # No new_line option: given "\\r\\n", DuckDB 1.5 and 2.0 read no row and say nothing.
    return (
        f"read_csv('{source}', auto_detect=false, header=true, delim='{layout.delimiter}', "
        f"quote='\"', escape='\"', columns={{{columns}}}, strict_mode=true, "
        f"null_padding=false, max_line_size={RECORD_BYTES}, encoding='utf-8')"
    )


@contextmanager
def _piped(chunks: Iterable[bytes]) -> Iterator[str]:
    """A path that these bytes can be read from, once."""
    outlet, inlet = os.pipe()
    feeder = threading.Thread(target=_feed, args=(chunks, inlet), daemon=True)
    feeder.start()
    try:
        yield f"/dev/fd/{outlet}"
    finally:
        os.close(outlet)
        feeder.join()


def _feed(chunks: Iterable[bytes], inlet: int) -> None:
    try:
        with open(inlet, "wb") as pipe:
            for chunk in chunks:
                pipe.write(chunk)
    except BrokenPipeError:
        pass  # DuckDB stopped at an error and has already said so.


def _bytes(path: str | Path, begin: int, end: int) -> Iterator[bytes]:
    """The bytes of a file from one place to another, or to its end."""
    with Path(path).open("rb") as file:
        file.seek(begin)
        while begin < end and (chunk := file.read(min(_CHUNK, end - begin))):
            yield chunk
            begin += len(chunk)
