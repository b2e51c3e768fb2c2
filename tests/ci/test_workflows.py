"""The workflows of tests and releases: what they call is there, and a release is what was built."""

import os
import re
import sys
from pathlib import Path

import pytest
import yaml

import support
from support import ROOT

CHECK_SCHEMA = Path(sys.executable).with_name("check-jsonschema")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEST, RELEASE = (ROOT / ".github" / "workflows" / f"{name}.yml" for name in ("test", "release"))
#: A script of the repository in a line of a shell.
SCRIPT = re.compile(r"(?<![\w/.$-])(?:\./)?((?:scripts|\.ci|tests)/[\w./-]+)")
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def steps(job):
    return job.get("steps", [])


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


@pytest.mark.parametrize("path", [TEST, RELEASE], ids=lambda path: path.name)
def test_a_file_is_what_its_schema_wants(path):
    done = support.run(CHECK_SCHEMA, "--builtin-schema", "vendor.github-workflows", path)
    assert done.returncode == 0, done.stdout


@each_workflow
def test_a_step_calls_scripts_that_are_there_and_takes_nothing_of_others_but_by_variables(path):
    for job in jobs(path).values():
        assert "uses" in job or job["timeout-minutes"] < 360
        for step in steps(job):
            assert "${{" not in step.get("run", "")
            for script in SCRIPT.findall(step.get("run", "")):
                assert os.access(ROOT / script, os.X_OK), script
            if step.get("uses", "").startswith("./"):
                assert (ROOT / step["uses"] / "action.yml").is_file()
        if job.get("uses", "").startswith("./"):
            assert (ROOT / job["uses"]).is_file()


def test_pull_requests_and_merges_are_tested_as_anywhere():
    workflow = yaml.safe_load(TEST.read_text())
    assert workflow[True].keys() >= {"push", "pull_request"}  # YAML reads `on` so
    [job] = workflow["jobs"].values()
    assert [step["run"].split()[-1] for step in steps(job) if "run" in step] == [".ci/run"]


def test_a_release_begins_with_its_tag_and_is_published_by_a_job_that_runs_nothing_of_its_own():
    workflow = yaml.safe_load(RELEASE.read_text())
    release = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert {name for name, job in release.items() if "permissions" in job} == {"publish"}
    check = 'scripts/dev/release check "$GITHUB_REF_NAME" "$GITHUB_REPOSITORY"'
    assert steps(release["tag"])[-1]["run"] == check
    assert (release["test"]["needs"], release["build"]["needs"]) == ("tag", "tag")
    assert release["publish"]["needs"] == ["test", "build"]
    publish = steps(release["publish"])
    names = [step.get("uses", "").partition("@")[0] for step in publish]
    assert names == ["actions/download-artifact", "actions/attest", ""]
    assert not SCRIPT.findall(publish[-1]["run"])


def test_what_is_built_is_what_is_attested_and_attached():
    release = jobs(RELEASE)
    *_, upload = steps(release["build"])
    runs = [step["run"] for step in steps(release["build"]) if "run" in step]
    assert runs[1:] == [
        "scripts/dev/release-files dist/files",
        "scripts/dev/release notes >dist/notes.md",
    ]
    assert upload["with"]["path"] == "dist"
    download, attest, publish = steps(release["publish"])
    assert download["with"]["name"] == upload["with"]["name"]
    assert attest["with"]["subject-path"] == "files/*"
    assert publish["run"].split()[-3:] == ["--notes-file", "notes.md", "files/*"]
