"""A comparison of any mix of a service's labels: a shop with a login."""

import json
import re
import urllib.request

import pytest

from e2e.bzt_run import Run
from e2e.comparing import SHORT
from support import services
from support.service_suite import ServiceSuite

pytestmark = pytest.mark.long

#: Of errors some dozens of answers tell enough.
QUICK = (*SHORT, "modules.compare.gates=errors", "modules.jmeter.properties.period=30")


def asked(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    made = ServiceSuite(tmp_path_factory.mktemp("mix"))
    made.config = made.shop()
    return made


def compare(suite, folder, base, head):
    urls = {"BASE_URL": f"http://127.0.0.1:{base}", "HEAD_URL": f"http://127.0.0.1:{head}"}
    given = {"config": suite.config, "alias": "shop compare", "root": suite.suite}
    return Run(folder, *QUICK, **given, **urls).end()


def test_a_shop_is_compared_with_itself_and_no_session_is_refused(suite, tmp_path):
    shop = suite.config["scenarios"]["shop"]
    shop["answers"] = "same"
    try:
        with services.serving(suite.repo) as base, services.serving(suite.repo) as head:
            ended = compare(suite, tmp_path, base, head)
            refused = [asked(port, "/refused")["refused"] for port in (base, head)]
    finally:
        del shop["answers"]
    assert refused == [0, 0]
    assert ended.outcome == (0, "PASS"), ended.output
    told = ended.json("compare.json")
    assert (told["answers"], told["left_out"]) == ("same", [])
    assert ended.execution["comparison"]["unlike_answers"] == []
    assert told["weights"] == {"list": 4, "item": 4, "find": 2, "order": 1, "visit": 1}
    found = {it["label"] for it in ended.execution["comparison"]["findings"]}
    assert found == {"all labels", "list", "item", "find", "order", "login", "put", "cart"}
    rare = {it["label"]: it["requests"] for it in told["power"]}
    assert rare["list"] > 3 * rare["order"] > 0
    for said in ("Compare: arrivals: one every", "will probably be found in list, with some"):
        assert said in ended.output
    assert "What this comparison can find, as known before the load" in ended.page
    assert "will probably be found" not in ended.page
    # Each arrival was judged by when it was due.
    [schedule] = ended.execution["schedules"]
    assert set(schedule["labels"]) == {"list", "item", "find", "order", "login"}


OLDER = ("app.get('/search'", "app.get('/look'")
#: Of a page of the older shop: half as large again, or more.
LARGER = ("response.json({ page,", "response.json({ page, note: 'old '.repeat(2000),")


@pytest.fixture
def older(suite):
    """The script of a shop that lacks one of the labels, and answers more to another."""
    script, text = suite.repo.root / "older.js", (suite.repo.root / "shop.js").read_text()
    assert LARGER[0] in text
    script.write_text(text.replace(*OLDER).replace(*LARGER))
    yield script.name
    script.unlink()


def test_a_label_that_head_alone_has_is_left_out_by_name(suite, older, tmp_path):
    criteria = suite.config["scenarios"]["shop"]["criteria"]
    criteria.append("fail of find>60%")
    try:
        with services.serving(suite.repo, older) as base, services.serving(suite.repo) as head:
            ended = compare(suite, tmp_path, base, head)
    finally:
        criteria.pop()
    assert ended.outcome == (0, "PASS"), ended.output
    assert ended.json("compare.json")["left_out"] == ["find"]
    assert ended.execution["comparison"]["left_out"] == ["find"]
    assert "find" not in {it["label"] for it in ended.execution["comparison"]["findings"]}
    assert "find" not in {it["label"] for it in ended.samples}
    for where in (ended.output, ended.page):
        assert "left out, for head alone answers it: find" in where
    [unlike] = ended.execution["comparison"]["unlike_answers"]
    assert (unlike["label"], unlike["codes"]) == ("list", [])
    assert unlike["sizes"]["base"] > unlike["sizes"]["head"] + 7000
    for where in (ended.output, (ended.folder / "verdict.md").read_text()):
        assert re.search("PASS.*; head answers something else: list [(]", where)


def test_a_label_that_head_has_lost_fails(suite, older, tmp_path):
    with services.serving(suite.repo) as base, services.serving(suite.repo, older) as head:
        ended = compare(suite, tmp_path, base, head)
    assert ended.outcome == (3, "FAIL"), ended.output
    assert "head does not answer 'find' rightly" in ended.output


def test_a_base_that_does_not_answer_ends_the_run_in_one_line(suite, tmp_path):
    with services.serving(suite.repo) as head, services.serving(suite.repo) as base:
        suite.config["scenarios"]["shop"]["requests"].append({"label": "nowhere", "url": "/gone"})
        try:
            ended = compare(suite, tmp_path, base, head)
        finally:
            suite.config["scenarios"]["shop"]["requests"].pop()
    assert ended.code == 1
    said = "base does not answer 'nowhere' rightly, and neither does head: "
    assert f"{said}http://127.0.0.1:{base}/gone gave 404 " in ended.error()
