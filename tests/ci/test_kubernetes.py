"""deploy/kubernetes, by the API's own schemas."""

import kubernetes_validate
import pytest
import yaml

from support import ROOT

VERSION = "1.37"


def documents():
    text = (ROOT / "deploy" / "kubernetes" / "stress.yaml").read_text()
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


@pytest.fixture
def job():
    return documents()["Job"]


@pytest.mark.parametrize("kind", documents())
def test_the_manifest_passes_the_schema_of_the_api(kind):
    assert kubernetes_validate.validate(documents()[kind], VERSION, strict=True) == VERSION


def test_what_the_schema_does_not_know_is_seen(job):
    job["spec"]["completion"] = 4
    with pytest.raises(kubernetes_validate.ValidationError, match="completion"):
        kubernetes_validate.validate(job, VERSION, strict=True)


def test_every_engine_runs_once_and_all_at_the_same_time(job):
    spec = job["spec"]
    (engine,) = spec["template"]["spec"]["containers"]
    engines = {it["name"]: it["value"] for it in engine["env"]}["OF"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] == int(engines)
    assert spec["backoffLimitPerIndex"] == 0
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
