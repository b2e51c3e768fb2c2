"""A visit to the shop, recorded in Chromium: it is checked and compared as a service."""

import json
import subprocess
import urllib.request

import pytest

import support
from e2e.bzt_run import LENIENT, Run, seconds
from e2e.comparing import SHORT
from support import services
from support.project_copy import copy_project
from tollgate.intake.har import read_har
from tollgate.intake.source import load

pytestmark = pytest.mark.long

RECORD = support.ROOT / "tests" / "support" / "browser" / "record-shop.js"
GOLDEN = support.ROOT / "tests" / "intake" / "shop.har"
PASSWORD = {"SHOP_PASSWORD": "S3CRET-of-the-shop"}
LABELS = {"items", "post-login", "items-2", "items-id", "post-cart-id", "cart", "post-orders"}
#: Of errors some dozens of answers tell enough.
QUICK = (*SHORT, "modules.compare.gates=errors", "modules.jmeter.properties.period=250")


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    made = services.shop(tmp_path_factory.mktemp("shops") / "shop")
    services.install(made)
    return made


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("recorded-shop") / "suite")


def scenario(draft, **more):
    """What taurus.yml has of a draft."""
    return {
        **{"url": draft.url, "requests": list(draft.requests), "rate": "3/s"},
        **{"environment": [*draft.secrets], "criteria": ["fail>0%"], **draft.settings, **more},
    }


@pytest.mark.needs("chromium")
def test_a_visit_is_recorded_and_checked(repo, suite, tmp_path):
    file = tmp_path / "shop.har"
    with services.serving(repo) as port:
        url = f"http://127.0.0.1:{port}"
        subprocess.run(["node", RECORD, url, file], check=True, timeout=support.PATIENCE)
        draft = read_har(load(str(file)), "shop")
        kept = read_har(load(str(GOLDEN)), "shop")
        assert (draft.url, draft.secrets) == (url, kept.secrets)
        assert json.dumps(draft.requests).count("items_2_id") == 4
        config = {"modules": {"verdict": LENIENT}, "scenarios": {"shop": scenario(draft)}}
        ran = Run(
            tmp_path, *seconds(2, 6), config=config, alias="shop", root=suite, **PASSWORD
        ).end()
        refused = _refused(port)
    assert {it["label"] for it in ran.samples if it["URL"] != "null"} == LABELS
    assert ran.all_answered_right, ran.output
    assert refused == 0


def test_the_recording_is_compared_with_itself_and_no_session_is_refused(repo, suite, tmp_path):
    draft = read_har(load(str(GOLDEN)), "shop")
    config = {"scenarios": {"shop": scenario(draft)}}
    with services.serving(repo) as base, services.serving(repo) as head:
        urls = {"BASE_URL": f"http://127.0.0.1:{base}", "HEAD_URL": f"http://127.0.0.1:{head}"}
        given = {"config": config, "alias": "shop compare", "root": suite}
        ended = Run(tmp_path, *QUICK, **given, **urls, **PASSWORD).end()
        refused = [_refused(port) for port in (base, head)]
    assert refused == [0, 0]
    assert ended.outcome[1] != "FAIL", ended.output
    assert ended.blamed <= {"generator", "machine"}, ended.output
    found = {it["label"] for it in ended.execution["comparison"]["findings"]}
    assert found >= LABELS


def _refused(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/refused") as answer:
        return json.load(answer)["refused"]
