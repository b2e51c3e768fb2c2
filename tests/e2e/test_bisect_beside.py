"""`tollgate bisect` in a suite that stands beside the repository of its service."""

import pytest
import yaml

from e2e.bisecting import QUICK, WHOLE_S, assert_nothing_kept, git_of
from support.service_suite import PYTHON_APP, ServiceSuite

pytestmark = [pytest.mark.long, pytest.mark.alone]

#: Each answer takes many times as long.
SLOW_APP = PYTHON_APP.replace("body = json", "sum(range(500_000))\n        body = json")


def test_in_a_suite_beside_the_app_s_repository_the_commit_is_found(tmp_path, begin_bisect):
    made = ServiceSuite(tmp_path)
    made.fibonacci()
    file = made.suite / "taurus.yml"
    settings = yaml.safe_load(file.read_text())
    settings["scenarios"] |= made.scenarios
    file.write_text(yaml.safe_dump(settings))
    texts = PYTHON_APP + "# one\n", SLOW_APP, SLOW_APP + "# two\n", SLOW_APP + "# three\n"
    shas = [made.repo.commit(text, "app.py") for text in texts]
    before = git_of(made.repo)
    process, log = begin_bisect(made.suite, "main~4", "main", "-fibonacci", options=QUICK)
    code, out = process.wait(WHOLE_S), log.read_text()
    assert code == 0, out
    assert "Bisect: 4 comparisons, first of BAD, at most" in out
    assert f"\n{shas[1][:7]} " in out
    assert f"{shas[1][:7]} against {shas[0][:7]}: FAIL, bad: " in out
    assert "run by python3, and the profiler is Node's" in out
    assert git_of(made.repo) == before
    assert_nothing_kept(made.suite, tmp_path)
