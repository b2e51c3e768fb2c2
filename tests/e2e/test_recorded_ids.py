"""What one answer gives the next request, taken out of real answers: a hidden field, a header, a
redirect, a cookie and JSON, each another one for each visitor."""

import json
import re
from secrets import token_urlsafe
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from e2e.bzt_run import LENIENT, Run, seconds
from support.http_server import Handler, serving
from support.project_copy import copy_project, new_target
from support.recordings import entry, har

CONFIG = {"modules": {"verdict": LENIENT}, "scenarios": {"shop": {"rate": "3/s"}}}
FORM = '<form><input name="csrf" type="hidden" value="{}"></form>'


class Service(Handler):
    """Knows what it has given, and refuses everything else."""

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        url = urlsplit(self.path)
        query, form = parse_qs(url.query), parse_qs(body)
        kind = url.path.split("/")[1]
        given = {
            "login": form.get("csrf"),
            "enter": query.get("code"),
            "orders": [url.path.rpartition("/")[2]],
            "pay": [self.headers["X-Token"]],
            "more": query.get("after"),
        }.get(kind)
        with self.server.lock:
            is_right = given is None or given[0] in self.server.known
            self.server.asked.append((kind, is_right))
        if not is_right:
            self.answer(403)
        elif kind == "":
            self.answer(200, FORM.format(self.new("+/=")), Content_Type="text/html")
        elif kind == "login":
            self.answer(302, Location=f"/enter?state=1&code={self.new()}")
        elif kind == "enter":
            self.answer(303, Location=f"/orders/{self.new(made=str(uuid4()))}")
        elif kind == "orders":
            self.answer(200, Set_Cookie=f"token={self.new()}; Path=/")
        elif kind == "pay":
            self.answer(200, json.dumps({"page": {"next": self.new("/+ ")}}))
        else:
            self.answer(200)

    def new(self, odd="", made=""):
        made = made or f"{token_urlsafe(18)}7a{odd}"
        with self.server.lock:
            self.server.known.add(made)
        return made


def recording(path, own):
    csrf, code, order = (
        "q7Zk+2Lm/9Xw=8Tn3",
        "b7Kq2Zx9Lm4Wv8Tn3Rc6",
        "0b8f8c4e-6a0e-4a8b-9a54-5f0f8f5f9c11",
    )
    token, after = "c8Lr3Ay0Mn5Xw9Uo4Sd7", "d9Ms4Bz1/No6Yx0Vp5+Te8 x"
    return har(
        path,
        entry(f"{own}/", answer=FORM.format(csrf), mime="text/html"),
        entry(
            f"{own}/login",
            method="POST",
            at_s=0.1,
            status=302,
            body=[("user", "ann"), ("csrf", csrf)],
            answer_headers={"Location": f"/enter?state=1&code={code}"},
        ),
        entry(
            f"{own}/enter?state=1&code={code}",
            at_s=0.2,
            status=303,
            answer_headers={"Location": f"/orders/{order}"},
        ),
        entry(f"{own}/orders/{order}", at_s=0.3, answer_headers={"Set-Cookie": f"token={token}"}),
        entry(f"{own}/pay", at_s=0.4, headers={"X-Token": token}, answer={"page": {"next": after}}),
        entry(f"{own}/more?after=d9Ms4Bz1%2FNo6Yx0Vp5%2BTe8+x&next=1", at_s=0.5),
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ids")
    suite = copy_project(folder / "suite")
    with serving(Service, known=set(), asked=[]) as server:
        own = f"http://127.0.0.1:{server.server_port}"
        made = new_target(suite, "shop", "--from", recording(folder / "shop.har", own))
        assert made.returncode == 0, made.stderr
        run = Run(folder, *seconds(1, 4), config=CONFIG, alias="shop", root=suite).end_cleanly()
        yield run, server, (suite / "taurus.yml").read_text()


def test_each_visitor_sends_what_an_answer_gave(ran):
    run, server, written = ran
    assert "environment:" not in written.partition("  shop:")[2]
    assert len(re.findall(r"^ +extract-", written, re.MULTILINE)) == 5
    kinds = {"login", "enter", "orders", "pay", "more"}
    assert {it for it in server.asked if it[0]} == {(it, True) for it in kinds}
    assert run.all_answered_right, run.output
