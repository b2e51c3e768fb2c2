"""deploy/kubernetes, by the API's own schemas."""

import os

import kubernetes_validate
import pytest
import yaml

from support import ROOT, tollgate

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


def test_the_suite_of_the_manifest_is_one_whose_plan_can_be_written(tmp_path):
    for name, text in documents()["ConfigMap"]["data"].items():
        (tmp_path / name).write_text(text)
    env = {**os.environ, "TOLLGATE_HOME": str(ROOT / ".tollgate")}
    done = tollgate("-C", tmp_path, "plan", "-shop", "-stress", env=env)
    assert done.returncode == 0, done.stderr
    plan = (tmp_path / ".tollgate" / "shop-stress.jmx").read_text()
    assert 'testname="list"' in plan


def test_a_pod_is_not_root_and_asks_for_what_the_map_names(job):
    spec = job["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    [engine] = spec["containers"]
    volumes = {it["name"]: it for it in spec["volumes"]}
    mounted = {it["mountPath"]: volumes[it["name"]] for it in engine["volumeMounts"]}
    assert mounted["/config"]["configMap"]["name"] == documents()["ConfigMap"]["metadata"]["name"]
    [service] = yaml.safe_load(documents()["ConfigMap"]["data"]["taurus.yml"])["scenarios"]
    assert f"run -{service} -stress" in engine["command"][-1]


def test_the_claim_may_be_written_by_the_user_of_the_image(job):
    image = (ROOT / "deploy" / "container" / "Containerfile").read_text()
    group = job["spec"]["template"]["spec"]["securityContext"]["fsGroup"]
    assert f"\nUSER {group}:{group}\n" in image
