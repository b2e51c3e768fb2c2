"""A service from a recording with secrets: it gets them, and no file of the run holds one."""

import base64

import pytest
import yaml

from e2e.bzt_run import LENIENT, Run, seconds
from e2e.comparing import SHORT as QUICK_SHORT
from support.http_server import Handler, serving
from support.project_copy import copy_project, new_target
from support.recordings import entry, har

PASSWORD = "p4ss word&="
SECRETS = {
    "SHOP_COOKIE_SESSION": "c00kie-of-the-browser",
    "SHOP_BEARER": "S3CRET-bearer-token",
    "SHOP_BASIC": base64.b64encode(b"ann:hunter-22").decode(),
    "SHOP_PASSWORD": PASSWORD,
    "SHOP_API_KEY": "k3y in-the&query",
    "SHOP_PASSCODE": 'zq"7',
}
#: Also as URLs and JSON have them.
WRITTEN = {
    *SECRETS.values(),
    "p4ss+word",
    "p4ss%20word",
    "k3y+in-the",
    "k3y%20in-the",
    "k3y in",
    r"zq\"7",
    "zq&quot;7",
}
#: Of errors some dozens of answers tell enough.
QUICK = (*QUICK_SHORT, "modules.compare.gates=errors", "modules.jmeter.properties.period=100")


class Service(Handler):
    """Answers those who send what it wants to see, and remembers who did not. What is asked at the
    end it always refuses, so that JMeter writes down the whole request."""

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        sent = self.headers
        # Each answer gives a cookie, beside which the browser's own has to stay.
        wanted = {
            "/": SECRETS["SHOP_COOKIE_SESSION"] in (sent["Cookie"] or ""),
            "/me": sent["Authorization"] == f"Bearer {SECRETS['SHOP_BEARER']}",
            "/admin": sent["Authorization"] == f"Basic {SECRETS['SHOP_BASIC']}",
            "/login": body == "user=ann&password=p4ss+word%26%3D",
            "/pin": body == r'{"pin": {"passcode": "zq\"7"}}',
            "/feed": self.path == "/feed?n=5&api_key=k3y+in-the%26query",
            "/end": False,
        }
        place = self.path.partition("?")[0]
        is_known = SECRETS["SHOP_COOKIE_SESSION"] in (sent["Cookie"] or "")
        is_right = wanted[place] and is_known
        # Before the load, Tollgate asks for / whether anybody answers.
        if not is_right and "Tollgate" not in sent["User-Agent"]:
            self.server.refused.append((place, sent["Cookie"], body))
        self.server.asked.append(place)
        self.answer(200 if is_right else 403, Set_Cookie=f"seen={len(place)}")


def recording(path, own, ends=True):
    """All of them in one visit, as a browser would send them. ends: with what is refused."""
    cookie = {"Cookie": f"session={SECRETS['SHOP_COOKIE_SESSION']}"}
    form = [("user", "ann"), ("password", PASSWORD)]
    sent = {**cookie, "Authorization": f"Bearer {SECRETS['SHOP_BEARER']}"}
    return har(
        path,
        entry(f"{own}/", headers=cookie, mime="text/html"),
        entry(f"{own}/me", at_s=0.1, headers={"Authorization": sent["Authorization"]}),
        entry(
            f"{own}/admin", at_s=0.2, headers={"Authorization": f"Basic {SECRETS['SHOP_BASIC']}"}
        ),
        entry(f"{own}/login", method="POST", at_s=0.3, body=form),
        entry(
            f"{own}/pin",
            method="POST",
            at_s=0.4,
            json_body={"pin": {"passcode": SECRETS["SHOP_PASSCODE"]}},
        ),
        entry(f"{own}/feed?n=5&api_key=k3y+in-the%26query", at_s=0.5),
        *[entry(f"{own}/end", method="POST", at_s=0.6, headers=sent, body=form)] * ends,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(the run, the server, what was made before, the suite)."""
    folder = tmp_path_factory.mktemp("recorded")
    suite = copy_project(folder / "suite")
    with serving(Service, asked=[], refused=[]) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        made = new_target(suite, "shop", "--from", recording(folder / "shop.har", url))
        assert made.returncode == 0, made.stderr
        server.asked.clear()
        config = {"modules": {"verdict": LENIENT}, "scenarios": {"shop": {"rate": "3/s"}}}
        given = {"config": config, "alias": "shop", "root": suite, "dashboards": True}
        run = Run(folder, *seconds(1, 4), **given, **SECRETS).end_cleanly()
        yield run, server, made, suite


def test_the_service_gets_each_secret(ran):
    run, server, _, suite = ran
    (written,) = (yaml.safe_load((suite / "taurus.yml").read_text())["scenarios"]["shop"],)
    assert {*written["environment"]} == {*SECRETS}
    assert {it[0] for it in server.refused} == {"/end"}, run.output
    assert {*server.asked} == {"/", "/me", "/admin", "/login", "/pin", "/feed", "/end"}


def test_no_file_and_nothing_that_was_printed_holds_one(ran):
    run, _, made, suite = ran
    names = {it.name for it in run.folder.rglob("*")}
    kinds = {"run.json", "verdict.json", "index.html", "bzt.log", "jmeter.log", "error.jtl"}
    assert kinds | {"kpi.jtl", "effective.yml", "junit.xml", "statistics.json"} <= names
    written = [
        *run.folder.rglob("*"),
        *(suite / ".tollgate").glob("*"),
        *(suite / "taurus.yml", *(suite / "data").iterdir(), *(suite / "plans").rglob("*")),
    ]
    held = [
        (it.name, word)
        for it in written
        for word in WRITTEN
        if it.is_file() and word.encode() in it.read_bytes()
    ]
    assert held == []
    assert [it for it in WRITTEN if it in f"{run.output}{made.stdout}{made.stderr}"] == []


def test_samples_have_no_url_where_one_held_a_secret(ran):
    run, *_ = ran
    assert "URL" not in run.samples[0]
    told = run.json("run.json")["executions"][0]["properties"]
    given = {name: it for name, it in told.items() if name.startswith("SHOP_")}
    assert {*given} == {*SECRETS, "SHOP_PASSCODE_json"} - {"SHOP_PASSCODE"}
    assert {*given.values()} == {"<redacted>"}
    assert run.judged_again().returncode == run.code


def test_a_run_without_one_of_them_is_refused_by_its_name(ran, tmp_path):
    suite = ran[-1]
    given = {name: it for name, it in SECRETS.items() if name != "SHOP_BEARER"}
    refused = Run(tmp_path, alias="shop", root=suite, **given).end()
    assert refused.code == 1
    assert "SHOP_BEARER" in refused.error()


@pytest.mark.long
def test_both_sides_of_a_comparison_get_each_secret(ran, tmp_path):
    suite = ran[-1]
    with (
        serving(Service, asked=[], refused=[]) as base,
        serving(Service, asked=[], refused=[]) as head,
    ):
        both = (base, head)
        file = recording(tmp_path / "again.har", f"http://127.0.0.1:{base.server_port}", ends=False)
        assert new_target(suite, "again", "--from", file).returncode == 0
        urls = [f"http://localhost:{it.server_port}" for it in both]
        sides = dict(zip(("BASE_URL", "HEAD_URL"), urls, strict=True))
        secrets = {name.replace("SHOP", "AGAIN"): it for name, it in SECRETS.items()}
        ended = Run(tmp_path, *QUICK, alias="again compare", root=suite, **sides, **secrets).end()
        assert [it.refused for it in both] == [[], []]
        assert min(it.asked.count("/feed") for it in both) > 10
    assert ended.outcome[1] != "FAIL", ended.output
    assert ended.blamed <= {"generator", "machine"}, ended.output
    written = [it for it in ended.folder.rglob("*") if it.is_file()]
    assert [it for it in written for word in WRITTEN if word.encode() in it.read_bytes()] == []
