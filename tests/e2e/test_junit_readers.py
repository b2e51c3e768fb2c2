"""junit.xml of archived runs as its readers have it: junitparser, junit2html, and the Ruby that
GitLab reads it with."""

import json
import math
import subprocess
import sys
from datetime import datetime

import pytest

import support
from support import debian
from support.archived import unpacked
from tollgate.gather.judged import judged
from tollgate.report import write

pytestmark = pytest.mark.services

SOURCES = support.ROOT / "tests" / "services" / "junit"
RUNS = ("check-fail", "check-inconclusive", "compare-fail")
#: ActiveSupport with all that it needs.
RUBY = (
    *("ruby3.1", "libruby3.1", "ruby-activesupport", "ruby-concurrent", "ruby-i18n"),
    *("ruby-tzinfo", "ruby-zeitwerk"),
)
READ = """import json, sys
from junitparser import JUnitXml
print(json.dumps([[suite.name, suite.time, suite.timestamp, [[case.name, case.time, [
    [type(each).__name__, each.text] for each in case.result]] for case in suite]]
    for suite in JUnitXml.fromfile(sys.argv[1])]))"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readers")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = folder / "bin" / "pip", "install", "--quiet", "--require-hashes", "--requirement"
    subprocess.run([*pip, SOURCES / "requirements.lock"], check=True)
    return folder / "bin"


@pytest.fixture(scope="module", params=RUNS)
def written(request, tmp_path_factory):
    """The file, and the lines of the criteria that have not passed."""
    folder = unpacked(request.param, tmp_path_factory.mktemp("run"))
    done = judged(folder)
    write.write_all(folder, done.verdict, done.run, done.record)
    results = [result for execution in done.verdict.executions for result in execution.criteria]
    red = [result.line for result in results if result.verdict != "PASS" and result.decides]
    return folder / "junit.xml", red


def test_python_readers_have_times_and_the_figures_of_what_failed(written, environment, tmp_path):
    file, red = written
    done = support.run(environment / "python", "-c", READ, file)
    assert done.returncode == 0, done.stderr
    suites = json.loads(done.stdout)
    assert [seconds > 0 for _, seconds, *_ in suites] == [False] + [True] * (len(suites) - 1)
    for _, _, timestamp, cases in suites:
        assert datetime.fromisoformat(timestamp).year >= 2026
        assert all(time >= 0 and not math.isnan(time) for _, time, _ in cases)
    texts = [text for *_, cases in suites for *_, results in cases for _, text in results]
    assert [line for line in red if not any(line in text for text in texts)] == []
    page = tmp_path / "page.html"
    done = support.run(environment / "junit2html", file, page)
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 1000


@pytest.fixture(scope="module")
def ruby(tmp_path_factory):
    """The command, and its environment."""
    root = debian.unpacked(tmp_path_factory.mktemp("ruby"), *RUBY)
    folders = [
        *root.glob("usr/lib/ruby/vendor_ruby"),
        *(it for part in ("ruby", "*/ruby") for it in root.glob(f"usr/lib/{part}/3.*")),
        *root.glob("usr/lib/ruby/gems/*/gems/*/lib"),
        *root.glob("usr/share/rubygems-integration/all/gems/*/lib"),
        *root.glob("usr/share/rubygems-integration/all/gems/*/lib/concurrent-ruby"),
    ]
    (library,) = root.glob("usr/lib/*/libruby-3*.so.3.?")
    command = root / "usr" / "bin" / "ruby3.1", "--disable-gems", *(f"-I{it}" for it in folders)
    return command, support.environment(LD_LIBRARY_PATH=str(library.parent))


@pytest.mark.needs("apt-get")
def test_gitlab_has_the_figures_of_what_failed_in_the_text_that_it_shows(written, ruby):
    file, red = written
    command, env = ruby
    with file.open() as text:
        done = support.run(*command, SOURCES / "hash.rb", stdin=text, env=env)
    assert done.returncode == 0, done.stderr
    shown = []
    for suite in json.loads(done.stdout)["testsuites"]["testsuite"]:
        cases = suite["testcase"]
        for case in cases if isinstance(cases, list) else [cases]:
            # Its parser takes the failure, or else the error, for the output of the case.
            shown += [case[tag] for tag in ("failure", "error") if tag in case]
    assert all(isinstance(it, str) for it in shown)
    assert [line for line in red if not any(line in it for it in shown)] == []
