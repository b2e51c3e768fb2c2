"""The SQL between the columns of a JTL and those of a piece, both ways and without loss.

A column whose values are all whole numbers as Java writes them is stored as BIGINT; everything else
as text. A thread's name is stored as text and the number at its end, because an Open Model Thread
Group makes one name an arrival. An empty field is NULL, as DuckDB's CSV reader has it.
"""

from __future__ import annotations

from collections.abc import Collection

from tollgate.jtl_layout import NUMBERS, Layout

#: Columns that a CSV scan gives as BIGINT.
BIGINTS = ("timeStamp", *NUMBERS)
#: Restored by printing it: no leading zero, no plus, no minus zero, within BIGINT.
_WHOLE = "0|-?[1-9][0-9]{0,17}"
_THREAD_NUMBER = "-(0|[1-9][0-9]{0,17})$"
NUMBER = "thread_number"


def whole_sql(layout: Layout) -> str:
    """SELECT list: for each text column whether it can be stored as whole numbers."""
    return ", ".join(
        f"coalesce(bool_and(regexp_full_match(c{index}, '{_WHOLE}')), false)"
        for index in range(len(layout.columns))
    )


def stored_sql(layout: Layout, whole: Collection[int]) -> str:
    """SELECT list from the text columns c0, c1, ... of a JTL to the columns of a piece."""
    found = []
    for index, name in enumerate(layout.columns):
        column = f"c{index}"
        if index in whole:
            column = f"{column}::BIGINT AS {column}"
        elif name == "threadName":
            number = f"regexp_extract({column}, '{_THREAD_NUMBER}', 1)"
            stem = f"left({column}, length({column}) - length({number}) - 1)"
            column = (
                f"CASE WHEN {number} = '' THEN {column} ELSE {stem} END AS {column}, "
                f"TRY_CAST({number} AS BIGINT) AS {NUMBER}"
            )
        found.append(column)
    return ", ".join(found)


def scanned_sql(layout: Layout, whole: Collection[int]) -> str:
    """SELECT list from the columns of a piece to those of a CSV scan, with its types."""
    found = []
    for index, name in enumerate(layout.columns):
        column = f"c{index}"
        if index in whole and name not in BIGINTS:
            column = f"{column}::VARCHAR AS {column}"
        elif name == "threadName" and index not in whole:
            column = f"{_thread(column)} AS {column}"
        found.append(column)
    return ", ".join(found)


def line_sql(layout: Layout, whole: Collection[int]) -> str:
    """SQL for a line of the JTL, without its end, from the columns of a piece.

    Quoted as JMeter 5.6.3 does in CSVSaveService.quoteDelimiters: a field is, if it holds the
    delimiter, a quote, a carriage return or a line feed; its quotes are doubled then.
    """
    found = []
    for index, name in enumerate(layout.columns):
        column = f"c{index}"
        if index in whole:
            column = f"{column}::VARCHAR"
        else:
            text = _thread(column) if name == "threadName" else column
            quoted = f"""'"' || replace({text}, '"', '""') || '"'"""
            special = f"""regexp_matches({text}, '[{layout.delimiter}"\\r\\n]')"""
            column = f"CASE WHEN {special} THEN {quoted} ELSE {text} END"
        found.append(f"coalesce({column}, '')")
    return f" || '{layout.delimiter}' || ".join(found)


def _thread(column: str) -> str:
    return f"CASE WHEN {NUMBER} IS NULL THEN {column} ELSE {column} || '-' || {NUMBER} END"
