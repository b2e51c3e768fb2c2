"""The documentation says what is so: its links, commands, paths, criteria and sample outputs."""

import ast
import functools
import itertools
import json
import re
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from support import ROOT, ci_files, golden
from support.archived import unpacked
from support.command import tollgate
from tollgate.base.exit_codes import ExitCode
from tollgate.cli import run
from tollgate.criteria.grammar import parse
from tollgate.install.tools import JMETER, NODE, node_folder
from tollgate.judge.verdicts import ORDER
from tollgate.study.published import CLAIMS

README = ROOT / "README.md"
CHANGELOG = ROOT / "CHANGELOG.md"
RUN = ROOT / "scripts" / "run"
ROOMS = ROOT / "scripts" / "tollgate" / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
EXAMPLES = ROOT / "examples" / "README.md"
FRAGMENTS = ROOT / "changelog.d" / "README.md"
CONTRIBUTING, SECURITY = ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"
PAGES = [README, CONTRIBUTING, SECURITY, CHANGELOG, FRAGMENTS, ROOMS, EXAMPLES, *DOCS]
#: Without the changelog, which also names what is gone.
GUIDES = [page for page in PAGES if page.name != "CHANGELOG.md"]
#: Examples of what a reader makes.
THEIRS = ("shop", "stock", "weather")
ELIDED = "..."
CRITERION = re.compile(r"[a-z][\w.?*-]*( of \w+)?[<>]=?\d[^\s,]*")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
each_guide = pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page, language):
    """The fenced blocks of a language: what stands behind its name, and the text."""
    fence = rf"^```{language}\b *(.*)\n((?:.*\n)*?)```$"
    return re.findall(fence, page.read_text(), re.MULTILINE)


def code(page):
    """Every code span of a page, and every line of commands and of indented code."""
    text = re.sub(r"^```\w*.*\n(?:.*\n)*?```$", "", page.read_text(), flags=re.MULTILINE)
    indented = re.findall(r"^ {4}(\S.*)$", text, re.MULTILINE)
    commands = [line for _, block in blocks(page, "sh") for line in block.splitlines()]
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)] + indented + commands


def anchors(page):
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def contains(lines, part):
    """Whether lines that follow each other are these; one that ends with `...` is a beginning."""
    starts = range(len(lines) - len(part) + 1)
    return any(all(map(is_like, lines[at:], part)) for at in starts)


def is_like(line, sample):
    if sample.endswith(ELIDED):
        return line.startswith(sample.removesuffix(ELIDED))
    return line == sample


def parts(sample):
    """What stands between the lines that are left out."""
    lines = [line.rstrip() for line in sample.splitlines()]
    groups = itertools.groupby(lines, key=lambda line: line.strip() == ELIDED)
    return [list(group) for is_elided, group in groups if not is_elided]


@functools.cache
def help_of(command):
    code, printed, _ = tollgate(*command.split(), "--help")
    assert code == 0, printed
    return printed


@functools.cache
def sources():
    """Everything that reads an environment variable."""
    folders = ((ROOT / name).rglob("*") for name in ("app", "scripts", "tests/support"))
    files = [ROOT / "ecosystem.config.js", ROOT / "taurus.yml", *itertools.chain(*folders)]
    files += (ROOT / "examples").glob("*/*.js")
    read = (it for it in files if it.is_file() and it.suffix in ("", ".py", ".js", ".yml", ".sh"))
    return "\n".join(it.read_text(encoding="utf-8") for it in read)


def settings():
    return yaml.safe_load((ROOT / "taurus.yml").read_text())


def test_the_readme_is_short():
    assert len(README.read_text().split()) <= 700


def test_the_index_leads_to_every_page():
    text = (ROOT / "docs" / "index.md").read_text()
    pages = [page.name for page in DOCS if page.name != "index.md"]
    assert [name for name in pages if f"]({name})" not in text] == []


def test_the_page_of_settings_has_every_variable_module_and_command():
    text = (ROOT / "docs" / "settings.md").read_text()
    modules = {name for name, it in settings()["modules"].items() if "tollgate." in str(it)}
    commands = re.findall(r"^    (\w+) {2,}", help_of(""), re.MULTILINE)
    table = run.HELP.partition("\nvariables:\n")[2].partition("\n\n")[0]
    variables = ", ".join(re.findall(r"^  (.+?) {2,}", table, re.MULTILINE)).split(", ")
    assert len(commands) > 10
    assert len(variables) > 10
    named = [*modules - {"progress"}, *variables, *(f"tollgate {it}" for it in commands)]
    assert [it for it in named if not re.search(rf"`{it}\b", text)] == []


def test_every_message_on_the_page_of_troubles_is_one_of_the_code():
    folder = ROOT / "scripts" / "tollgate"
    files = [*folder.rglob("*.py"), folder / "install" / "prerequisites.sh"]
    code = "\n".join(path.read_text() for path in files)
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    # A message over several lines of code is one literal after another.
    code = re.sub(r'"\s*\n\s*f?"', "", code)
    rows = re.findall(r"^\| (?:[\w ]+ \| )?`([^`]+)` \|", text, re.MULTILINE)
    assert len(rows) > 40
    parts = [part.strip(" ;:(),") for row in rows for part in re.split(r"\.\.\.|[:;,] ", row)]
    assert [part for part in parts if part not in code] == []


def name_of(code):
    """As people write it: verdicts by their names, what else there is in words."""
    return code.name if code.name in ORDER else code.name.lower()


@pytest.mark.parametrize("name", ["README.md", "docs/outputs.md"])
def test_a_table_of_exit_codes_is_that_of_the_code(name):
    rows = re.findall(r"^\| (\d) \| (\w*) ?\| \w", (ROOT / name).read_text(), re.M)
    assert rows == [(str(int(it)), it.name if it.name in ORDER else "") for it in ExitCode]


@pytest.mark.parametrize("path", [ci_files.GITHUB, ci_files.GITLAB, ci_files.JENKINS, RUN], ids=str)
def test_the_exit_codes_in_a_comment_are_those_of_the_code(path):
    text = re.sub(r"\n *(#|//) *", " ", path.read_text())
    assert ", ".join(f"{it:d} {name_of(it)}" for it in ExitCode) in text


def test_the_changelog_has_the_version_that_is_built_with_its_date():
    newest = re.search(r"^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$", CHANGELOG.read_text(), re.M)
    assert newest[1] == metadata.version("tollgate")


def test_the_notice_names_every_package_that_is_installed_with_its_licence():
    notice = re.sub(r"[^a-z0-9]", "", (ROOT / "NOTICE").read_text().lower())
    places = {node_folder(): NODE, ROOT: ROOT}
    packages = {
        name: place / "node_modules" / name / "package.json"
        for place, source in places.items()
        for name in json.loads((source / "package.json").read_text())["dependencies"]
    }
    pins = (ROOT / "pyproject.toml").read_text().partition("dependencies = [")[2].partition("]")[0]
    names = [*packages, *re.findall(r'"([\w-]+)"', pins)]
    assert [it for it in names if re.sub(r"[^a-z0-9]", "", it.lower()) not in notice] == []
    licences = {it: json.loads(path.read_text())["license"] for it, path in packages.items()}
    assert [name for name, licence in licences.items() if "GPL" in licence] == ["pm2"]
    for page in (ROOT / "NOTICE", README):
        assert "AGPL-3.0" in page.read_text()


def test_the_jars_with_advisories_have_the_versions_that_the_page_names():
    pins = (JMETER / "jars.sha256").read_text().split()
    table = r"^\| ([a-z][\w., -]*) \|(?: [\d.]+ \|)? (r?[\d.]+) \| (?:CVE|GHSA)"
    rows = re.findall(table, (ROOT / "docs" / "security.md").read_text(), re.M)
    jars = [f"lib/{name}-{version}.jar" for names, version in rows for name in names.split(", ")]
    assert len(rows) == 12
    assert [it for it in jars if it not in pins] == []
    assert not [it for it in pins if "pdfbox" in it]  # without which Tika reads no PDF


@each_page
def test_every_link_is_relative_and_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if page.name == "CHANGELOG.md" and link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@each_guide
def test_every_command_exists(page):
    kinds = set(settings()["cli-aliases"]) | set(THEIRS)
    for text in code(page):
        for script in re.findall(r"(?<![\w/])(?:\./)?scripts/[\w-]+(?![\w./-])", text):
            assert (ROOT / script).exists(), script
        for kind in re.findall(r"scripts/run -(\w+)", text):
            assert kind in kinds | {"o"}, text
        for name in re.findall(r"modules\.([\w-]+)", text):
            assert name in settings()["modules"], text
        if called := re.search(r"(?:^|/)tollgate (new target|[a-z]+)\b(.*)", text):
            known = help_of(called[1])
            for option in re.findall(r"--[a-z]+", called[2]):
                assert option in known, text


@each_guide
def test_every_path_exists(page):
    roots = ("app", "data", "docs", "plans", "scripts", "tests")
    for text in code(page):
        for path in re.findall(rf"(?<![\w./-])(?:{'|'.join(roots)})/[\w./*-]*\w", text):
            if not any(name in path for name in THEIRS):
                assert list(ROOT.glob(path)), path


@each_guide
def test_every_environment_variable_is_read_by_something(page):
    for text in code(page):
        for name in re.findall(r"(?:^|(?<= ))([A-Z][A-Z0-9_]{3,})(?==|$)", text):
            known = name.removeprefix("HEAD_") if "INJECT" in name else name
            known = "PORT_" if name.startswith("PORT_") else known
            assert known in sources(), name


@each_guide
def test_every_criterion_is_one(page):
    for text in code(page):
        if found := CRITERION.match(text.split("  ")[0]):
            parse(found[0])


SAMPLES = [(page, *block) for page in GUIDES for block in blocks(page, "text")]


@pytest.mark.parametrize(
    ("page", "run", "sample"), SAMPLES, ids=[f"{page.name}-{run}" for page, run, _ in SAMPLES]
)
def test_a_sample_output_is_what_an_archived_run_gives(page, run, sample, tmp_path):
    assert run.startswith("tests/archive/"), f"{page.name}: name the run behind ```text"
    _, printed, _ = tollgate("judge", unpacked(Path(run).name, tmp_path))
    given = [line.rstrip() for line in printed.splitlines()]
    for part in parts(sample):
        assert contains(given, part), "\n".join(part)


def test_the_answers_of_the_study_are_to_the_published_claims():
    text = (ROOT / "docs" / "study.md").read_text()
    rows = [f"| {each.system} | {each.claim} | {each.published} |" for each in CLAIMS]
    assert [row for row in rows if row not in text] == []


def test_the_rooms_are_listed_in_import_order_with_their_docstrings():
    text = ROOMS.read_text()
    begin = re.search(r"^<!-- rooms.*-->$", text, re.MULTILINE).end()
    meant = f"{text[:begin]}\n{table_of_rooms()}{text[text.index('<!-- end of rooms -->') :]}"
    if golden.WRITES:
        ROOMS.write_text(meant)
    assert ROOMS.read_text() == meant


def table_of_rooms():
    """A row a room, low to high as import-linter has them: name, purpose, in, out."""
    project = (ROOT / "pyproject.toml").read_text()
    layers = re.search(r"^layers = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    rows = ["| room | purpose | in | out |", "|---|---|---|---|"]
    for room in reversed(re.findall(r'"(\w+)"', layers[1])):
        purpose, taken, given = docstring_of(room)
        rows.append(f"| `{room}` | {purpose} | {taken} | {given} |")
    return "\n" + "\n".join(rows) + "\n\n"


def docstring_of(room):
    """What the first line of a room's docstring says, and what comes in and goes out."""
    source = (ROOT / "scripts" / "tollgate" / room / "__init__.py").read_text()
    text = " ".join(ast.get_docstring(ast.parse(source)).split())
    return re.fullmatch(r"(.*?)\.? In: (.*?)\.? Out: (.*?)\.?", text).groups()
