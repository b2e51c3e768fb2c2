"""A server whose every answer is nearly right: one thing in each is wrong, in turn."""

import json
import time
from collections import Counter
from contextlib import contextmanager
from itertools import cycle
from urllib.parse import parse_qs, urlsplit

from support import ROOT, http_server
from support.plan_files import rows_in

FIBONACCI = 2_178_309


JOURNEYS = {
    (row["origin"], row["destination"], row["date"]): row
    for row in rows_in(ROOT / "data" / "search.csv")
}


def calculated(now, operand):
    return {"timestamp": now, "operator": "+", "operand": operand, "number": str(now + operand)}


def calculate(_url):
    return calculated(int(time.time() * 1000), 123_456_789_012)


def total(url):
    n = int(url.rpartition("/")[2])
    return {"n": n, "sum": n * (n + 1) // 2, "capped": False}


def search(url):
    query = parse_qs(urlsplit(url).query)
    row = JOURNEYS[tuple(query[key][0] for key in ("origin", "destination", "date"))]
    first = {"train": row["first_train"], "priceCents": int(row["first_price_cents"])}
    return {"tickets": [first] + [{}] * (int(row["tickets"]) - 1), "warnings": []}


def kittens(url):
    return {"id": url.rpartition("/")[2], "fibonacci": {"n": 32, "value": FIBONACCI}}


RIGHT = {
    **{"/calculate": calculate, "/sum": total, "/search": search, "/pi": lambda _: "Pi: 3.1415"},
    "/evil-kittens-sploding-your-cpu": kittens,
}

#: What is done to a right answer, by path and what is wrong with it then.
WRONG = {
    "/calculate": {
        "number off by one": lambda a: a | {"number": str(int(a["number"]) + 1)},
        "another operator": lambda a: a | {"operator": "-"},
        "an unknown operator": lambda a: a | {"operator": "/"},
        "an operand of 11 digits": lambda a: calculated(a["timestamp"], 12_345_678_901),
    },
    "/sum": {
        "sum off by one": lambda a: a | {"sum": a["sum"] + 1},
        "another n": lambda a: a | {"n": a["n"] - 1},
        "no sum": lambda a: {"n": a["n"]},
    },
    "/search": {
        "a ticket too few": lambda a: a | {"tickets": a["tickets"][:-1]},
        "another ticket first": lambda a: _first(a, train="XX1"),
        "another price": lambda a: _first(a, priceCents=1),
        "a carrier missing": lambda a: a | {"warnings": ["Aurora did not answer"]},
    },
    "/evil-kittens-sploding-your-cpu": {
        "another Fibonacci number": lambda a: a | {"fibonacci": {"n": 31, "value": 1_346_269}},
        "another id": lambda a: a | {"id": "Nobody"},
    },
    "/pi": {
        "pi a little too large": lambda _: "Pi: 3.2",
        "pi a little too small": lambda _: "Pi: 3.12",
        "no number": lambda _: "Pi: 3.14 or so",
        "right, but with status 500": lambda a: (500, a),
    },
}


def _first(answer, **changed):
    first, *others = answer["tickets"]
    return answer | {"tickets": [first | changed, *others]}


class Handler(http_server.Handler):
    """Answers with the next thing wrong, and counts what was."""

    def respond(self):
        path = next(path for path in RIGHT if self.path.startswith(path))
        with self.server.lock:
            what = next(self.server.next_wrong[path])
            self.server.given[path, what] += 1
        answer = WRONG[path][what](RIGHT[path](self.path))
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        self.answer(status, body if isinstance(body, str) else json.dumps(body))


@contextmanager
def serving():
    """The server, with `given` counting the wrong answers by path and what is wrong."""
    next_wrong = {path: cycle(wrong) for path, wrong in WRONG.items()}
    with http_server.serving(Handler, given=Counter(), next_wrong=next_wrong) as server:
        yield server
