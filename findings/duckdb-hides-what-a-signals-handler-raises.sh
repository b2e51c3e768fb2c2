#!/bin/sh
# DuckDB 2.0.0 (Python): what a handler of a signal raises during a query is lost.
#
# Guessed: the handler's exception comes out of execute(), as out of time.sleep(), or is at least the
# cause of what comes out. Seen, of a handler of SIGALRM that raises TimeoutError('late'), 0.2 s into
# a query of some seconds by one thread:
#
#   RuntimeError Query interrupted, cause None, context None
#
# So `except KeyboardInterrupt` around a query never sees Ctrl-C. With two threads the same came out,
# often only when the query had been answered.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.0

cat >interrupt.py <<'PY'
import signal

import duckdb


def handler(*_):
    raise TimeoutError("late")


signal.signal(signal.SIGALRM, handler)
con = duckdb.connect()
con.execute("SET threads=1")
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    con.execute("SELECT sum(a.range * b.range % 7) FROM range(29999) a, range(29999) b").fetchall()
    seen = "no exception"
except BaseException as error:
    seen = f"{type(error).__name__} {error}, cause {error.__cause__}, context {error.__context__}"
print(seen)
assert seen == "RuntimeError Query interrupted, cause None, context None"
PY
venv/bin/python interrupt.py
