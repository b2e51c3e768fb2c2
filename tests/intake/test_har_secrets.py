"""Wherever a recording holds a secret, and however it is written there, no draft of it does."""

import itertools
import json
from urllib.parse import quote, quote_plus

import pytest

from support.recordings import entry, har
from tollgate.intake.har import read_har
from tollgate.intake.source import load

OWN = "https://shop.example"
NAMES = ("password", "X-Api-Key", "sessionId", "client_secret")
VALUES = (
    "hV3kq9Zp2LmX8wRt5NcY7bJd",
    "horse-battery!",
    "0fea1eb7961e5cc35256e760a50b989b01acea7a",
    'p"w\\ö &=+/ end',
    "84713029",
)


def posted(mime, text):
    found = entry(f"{OWN}/a", method="POST", at_s=1)
    found["request"]["postData"] = {"mimeType": mime, "text": text}
    return found


def as_json(value):
    return posted("application/json", json.dumps(value))


#: By the place: the request that holds a value under a name.
PLACES = {
    "query": lambda n, v: entry(f"{OWN}/a?{n}={quote_plus(v)}", at_s=1),
    "form": lambda n, v: entry(f"{OWN}/a", method="POST", at_s=1, body=[("user", "ann"), (n, v)]),
    "JSON": lambda n, v: as_json({"x": [{"y": {n: v}}]}),
    "number of JSON": lambda n, v: as_json({n: int(v) if v.isdigit() else v}),
    "list of JSON": lambda n, v: as_json([{n: [v, v]}]),
    "JSON in JSON": lambda n, v: as_json({"inner": json.dumps({n: v})}),
    "header": lambda n, v: entry(f"{OWN}/a", at_s=1, headers={n: v}),
    "bearer": lambda _, v: entry(f"{OWN}/a", at_s=1, headers={"Authorization": f"Bearer {v}"}),
    "cookie": lambda n, v: entry(f"{OWN}/a", at_s=1, headers={"Cookie": f"a=1; {n}={v}"}),
    "XML": lambda n, v: posted("text/xml", f"<a><{n}>{v.replace('&', '&amp;')}</{n}></a>"),
    "attribute": lambda n, v: posted("text/xml", f"<a {n}='{v.replace('&', '&amp;')}'/>"),
    "CDATA": lambda n, v: posted("text/xml", f"<{n}><![CDATA[{v}]]></{n}>"),
    "text": lambda n, v: posted("text/plain", f"{n}={v}"),
    "URL in a query": lambda n, v: entry(
        f"{OWN}/a?to={quote_plus(f'/b?{n}={quote_plus(v)}')}", at_s=1
    ),
    "user of a URL": lambda _, v: entry(f"https://u:{quote(v, safe='')}@shop.example/a", at_s=1),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_is_in_a_draft(tmp_path, place):
    for name, value in itertools.product(NAMES, VALUES):
        # Also behind a name that says nothing, and in a path.
        again = entry(f"{OWN}/u/{quote(value, safe='')}?q=x{quote_plus(value)}", at_s=2)
        is_named = place != "user of a URL"
        entries = (entry(f"{OWN}/"), PLACES[place](name, value), *([again] if is_named else ()))
        is_out = place in ("text", "CDATA")
        found = read_har(load(str(har(tmp_path / "a.har", *entries[: 2 if is_out else 3]))), "shop")
        given = [found.requests, found.settings, list(found.remarks), dict(found.secrets)]
        written = json.dumps(given, ensure_ascii=False)
        forms = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
        assert [it for it in forms if it in written] == [], (name, value)
