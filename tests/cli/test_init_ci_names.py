"""The names of folders and services come out of the CI files of `tollgate init` as they went in."""

import json
import re
import shlex
import string
from pathlib import PurePosixPath

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

import support
from support import ci_files
from tollgate.cli.init import ci
from tollgate.cli.init.look import InitError

#: What means something to YAML, a shell, Groovy, GitHub's expressions, git or a glob.
PARTS = (
    *(" ", "'", '"', "$", "#", ": ", " #", "-", "- ", "${{", "}}", "${{ github.token }}", "$(id)"),
    *(
        "`id`",
        "\\",
        "\\n",
        "${x}",
        "$x",
        "$$",
        "*",
        "?",
        "[",
        "]",
        "{",
        "}",
        "&",
        "!",
        "|",
        ";",
        "%",
    ),
    *("@", ",", "~", "=", "<", ">", "(", ")", "pasture", "meadow", "VERSION", "SECRET", "INSTALL"),
    *(
        "{pasture}",
        "{-meadow}",
        "true",
        "null",
        "1e3",
        "yes",
        "0x1f",
        "ä",
        "日本",
        "\U0001f980",
        "a",
    ),
)
NASTY = '- it\'s "${{ a }}" $x `y` \\n: #%, 日本'


def names(first=PARTS):
    letters = st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="/")
    words = st.lists(st.sampled_from(first) | letters, min_size=1, max_size=6)
    return words.map("".join).filter(lambda it: it.isprintable() and it.strip(". "))


def folders():
    return st.lists(names(), min_size=1, max_size=2).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    (root / ".github").mkdir()
    (root / "package-lock.json").touch()
    for name in (".gitlab-ci.yml", "Jenkinsfile"):
        (root / name).touch()
    return root


def files(repository, folder, service):
    made = ci.files(repository, repository / folder, service, ("A_KEY",), "{}")
    return [made[ci.PLACES[it]] for it in ("github.yml", "gitlab.yml", "Jenkinsfile")]


def at(folder):
    """A folder as a relative path that is no option."""
    return f"./{folder}" if folder.startswith("-") else folder


def evaluated(text):
    """What GitHub makes of a value: of expressions, texts in quotes alone."""
    return re.sub(r"\$\{\{ '((?:[^']|'')*)' \}\}", lambda it: it[1].replace("''", "'"), text)


def matches(pattern, path):
    return PurePosixPath(path).match(pattern)


@given(folders(), names())
@example(NASTY, NASTY)
@example("-x", "-x")
@example("pasture", "meadow")
@example("meadow", "pasture")
def test_github_gets_the_names_and_evaluates_none(repository, folder, service):
    jobs = yaml.safe_load(files(repository, folder, service)[0])["jobs"]
    for job in ("measure", "history"):
        (given_to,) = (it["with"] for it in jobs[job]["steps"] if "folder" in it.get("with", {}))
        for name, meant in (("folder", at(folder)), ("service", service)):
            assert evaluated(given_to[name]) == meant
            expressions = re.findall(r"\$\{\{(.*?)\}\}", given_to[name])
            assert {*expressions} <= {" '${{' "}
    (comment,) = jobs["comment"]["steps"]
    assert evaluated(comment["with"]["run"]) == f"{service}-compare"


@given(folders(), names())
@example(NASTY, NASTY)
@example("-x", "true")
@example("pasture", "meadow")
@example("meadow", "pasture")
def test_gitlab_and_its_shell_get_the_names(repository, folder, service):
    read = yaml.safe_load(files(repository, folder, service)[1])
    of_all = read[".tollgate"]
    assert ["cd", at(folder)] in map(shlex.split, of_all["before_script"])
    for kind, options in (("check", []), ("compare", ["-compare"]), ("history", ["-compare"])):
        (command,) = (it for it in read[f"{service}-{kind}"]["script"] if " run " in it)
        words = shlex.split(command)
        start = words.index("run") + 1
        assert words[start : start + 1 + len(options)] == [f"-{service}", *options]
        assert support.run("sh", "-nc", command).returncode == 0
    patterns = [*of_all["artifacts"]["paths"], of_all["artifacts"]["reports"]["junit"]]
    assert not [it for it in patterns if set(it) & set("$[]{}!,\\")]
    assert matches(patterns[1], f"{at(folder)}/reports/check-2026Z-1/junit.xml")


def strings(text):
    """The texts of a Jenkinsfile's literals, as Groovy reads them."""
    for single, double in re.findall(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"", text):
        double = re.sub(r"\$\{(kind|code|env\.ANCHOR)\}", "check", double)
        assert not re.search(r"(?<!\\)(?:\\\\)*\$", double), double
        yield re.sub(r"\\(.)", r"\1", single or double)


def commands_of(texts, wanted):
    """The words of commands, as many as are wanted of each."""
    words = [shlex.split(it) for it in texts if re.search("tollgate.* run |^cd |git clean", it)]
    return [it[: len(of)] for it, of in zip(words, wanted, strict=False)]


def meant_of(folder, service):
    place, run = at(folder), f"-{service}"
    return [
        [".tollgate/venv/bin/tollgate", "-C", place, "run", run, "-check"],
        ["cd", place, "&&", "npm", "ci", "--no-audit"],
        ["GIT_LITERAL_PATHSPECS=1", "git", "clean", "-ffdqx", "-e", "history", f"{place}/reports"],
        [".tollgate/venv/bin/tollgate", "-C", place, "run", run, "-compare"],
    ]


@given(folders(), names())
@example(NASTY, NASTY)
@example("-x", "-x")
@example("pasture", "meadow")
@example("meadow", "pasture")
def test_jenkins_and_its_shell_get_the_names(repository, folder, service):
    code = re.sub(r"(?m)^//.*|(?<= )// .*", "", files(repository, folder, service)[2])
    texts = [*strings(code)]
    meant = meant_of(folder, service)
    assert commands_of(texts, meant) == meant
    patterns = [it for it in texts if "/reports/*Z-*/" in it]
    assert len(patterns) == 2
    for pattern in patterns:
        assert not set(pattern) & set("$[]{},\\")
    assert matches(patterns[1], f"{at(folder)}/reports/check-2026Z-1/junit.xml")


def test_groovy_itself_reads_the_same(repository, tmp_path):
    written = tmp_path / "Jenkinsfile"
    written.write_text(files(repository, NASTY, NASTY)[2], encoding="utf-8")
    ran = [it["arguments"][0] for it in ci_files.jenkins_calls(written) if it["name"] == "sh"]
    meant = meant_of(NASTY, NASTY)[1:]
    assert commands_of(map(str, ran), meant) == meant


@pytest.mark.parametrize("mark", ["\n", "\r", "\x7f", "\x1b", "\u2028", "\u202e", "\udc80", "\t"])
def test_a_name_that_no_file_can_hold_is_refused(mark, repository):
    for folder, service in ((f"a{mark}b", "shop"), ("a", f"shop{mark}")):
        with pytest.raises(InitError, match="rename it"):
            files(repository, folder, service)


@pytest.mark.parametrize("name", ["A B", "A: b", "1A", "A\n", "${{ secrets }}", "A')", ""])
def test_a_variable_that_is_none_is_refused(name, repository):
    with pytest.raises(InitError, match="rename it"):
        ci.files(repository, repository, "shop", (name,), "{}")


@given(st.lists(st.sampled_from(["a", "'", '"', "$", "#", " ", "{"]), min_size=1).map("".join))
def test_an_address_of_tollgate_that_needs_quotes_is_left_a_guess(repository, mark):
    url = {"url": f"https://host.example/{mark}.whl", "archive_info": {}}
    made = ci.files(repository, repository, "shop", (), json.dumps(url))
    is_plain = set(mark) <= set(string.ascii_letters)
    assert ("host.example" in made[ci.PLACES["gitlab.yml"]]) == is_plain
