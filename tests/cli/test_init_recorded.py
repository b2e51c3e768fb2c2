"""`tollgate init` from a recording and from a plan: what it writes, and what it keeps secret."""

import shutil

import pytest
import yaml

import support
from support.jmx_text import get, group, plan
from support.recordings import entry, har
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service
from tollgate.service.shapes import SHAPES

OWN = "http://127.0.0.1:8080"
SECRETS = ("c00kie-S3CRET", "bearer-S3CRET", "YW5uOlMzQ1JFVA==", "p4ss-S3CRET", "k3y-S3CRET")


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    return root


def written(root):
    """All that stands in the repository, by its path, but for what was there before."""
    there = (it for it in root.rglob("*") if it.is_file() and it.suffix not in (".har", ".mjs"))
    return {it.relative_to(root).as_posix(): it.read_text() for it in there}


def service(root):
    return yaml.safe_load((root / "taurus.yml").read_text())["scenarios"]["shop"]


def test_no_secret_of_a_recording_is_written_or_printed(tollgate, repository):
    cookie, bearer, basic, password, key = SECRETS
    recording = har(
        repository / "visit.har",
        entry(f"{OWN}/", headers={"Cookie": f"session={cookie}"}, mime="text/html"),
        entry(f"{OWN}/me", at_s=0.1, headers={"Authorization": f"Bearer {bearer}"}),
        entry(f"{OWN}/admin", at_s=0.2, headers={"Authorization": f"Basic {basic}"}),
        entry(f"{OWN}/login", method="POST", at_s=0.3, body=[("password", password)]),
        entry(f"{OWN}/feed?api_key={key}", at_s=0.4),
        entry("https://cdn.example/a.js", at_s=0.4),
    )
    code, out, err = tollgate("init", repository, "--name", "shop", "--from", recording)
    assert code == 0, err
    texts = written(repository)
    assert "taurus.yml" in texts
    assert [(path, it) for path, text in texts.items() for it in SECRETS if it in text] == []
    assert [it for it in SECRETS if it in f"{out}{err}"] == []
    names = ("COOKIE_SESSION", "BEARER", "BASIC", "PASSWORD", "API_KEY")
    assert {*service(repository)["environment"]} == {f"SHOP_{it}" for it in names}
    assert "cdn.example (1)" in out


@pytest.mark.parametrize("shape", SHAPES)
def test_a_recorded_visit_has_a_plan_of_each_shape(tollgate, repository, shape):
    shutil.copy(support.ROOT / "tests" / "intake" / "shop.har", repository)
    words = ("--name", "shop", "--from", repository / "shop.har")
    code, _, err = tollgate("init", repository, *words)
    assert code == 0, err
    parts = parts_of(read_service("shop", service(repository)), repository)
    firsts = [it.samples[0] for it in parts.requests]
    assert firsts == ["items"]
    assert len(list(SHAPES[shape](parts).iter("HTTPSamplerProxy"))) >= 7


def test_a_plan_of_jmeter_is_a_fragment_a_thread_group(tollgate, repository):
    file = repository / "theirs.jmx"
    file.write_text(
        plan(
            group(get("home", "/", port=""), get("list", "/items", port=""), name="browse"),
            group(get("pay", "/pay", port=""), name="buy"),
        )
    )
    words = ("--name", "shop", "--from", file, "--url", OWN)
    code, out, err = tollgate("init", repository, *words)
    assert code == 0, err
    texts = written(repository)
    fragments = [it for it in texts if it.startswith("plans/")]
    assert sorted(fragments) == ["plans/fragments/shop-browse.jmx", "plans/fragments/shop-pay.jmx"]
    asked = {it["label"]: it["include"] for it in service(repository)["requests"]}
    assert asked == dict(zip(("browse", "pay"), sorted(fragments), strict=True))
    assert "rate and weights" in out
