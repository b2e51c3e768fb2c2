"""A checkout whose path tools stumble over, with its reports on another filesystem."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import support
from e2e.adopting import Copy
from e2e.bzt_run import LENIENT, WARMUP_S, mostly_right

#: Both executions, each of a few seconds, with all that a run draws.
SHORT = {
    "~reporting": [
        {"module": "verdict"},
        {"module": "passfail", "criteria": mostly_right("calculate")},
    ],
    "modules": {
        "jmeter": {"properties": {"warmup": WARMUP_S, "measured": 3}},
        "looks": {"budget": "off"},
        "verdict": LENIENT,
    },
}

pytestmark = pytest.mark.needs("another filesystem")


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    """The project below `a b/ö`; its `reports` is a link to a folder elsewhere."""
    made = Copy(tmp_path / "a b" / "ö", {})
    with tempfile.TemporaryDirectory(dir=support.other_filesystem()) as elsewhere:
        (made.root / "reports").symlink_to(elsewhere)
        yield made


def test_a_run_ends_there_as_it_does_elsewhere(copy: Copy) -> None:
    (copy.root / "short.json").write_text(json.dumps(SHORT))
    ports = {name: str(support.free_port()) for name in ("PORT_FORK", "PORT_CLUSTER")}
    # Java finds no file of such a name in the locale `C`, which many a CI job has.
    done = copy.shell("./scripts/run short.json", LC_ALL="C", LOG_REQUESTS="true", **ports)
    assert done.returncode == 0, done.stdout + done.stderr
    assert copy.latest.stat().st_dev != copy.root.stat().st_dev
    verdict = json.loads((copy.latest / "verdict.json").read_text())
    assert [it["name"] for it in verdict["executions"]] == ["fork", "cluster"]
    for name in ("fork", "cluster"):
        assert (copy.latest / "dashboard" / name / "index.html").is_file()
        (printed,) = copy.latest.glob(f"pm2-{name}-out*.log")
        assert "GET /calculate" in printed.read_text()
    again = copy.shell(".venv/bin/tollgate judge reports/latest", LC_ALL="C")
    assert (again.returncode, again.stderr) == (0, "")


def test_git_shows_nothing_of_what_is_installed_or_left_by_a_run_even_where_it_is_a_link(
    copy: Copy,
) -> None:
    assert copy.shell("git init --quiet .").returncode == 0
    links = ("node_modules", ".tollgate", ".venv", "reports")
    (copy.root / ".tollgate").rename(copy.root / "moved")
    (copy.root / ".venv").rename(copy.root / "moved" / "venv")
    (copy.root / ".tollgate").symlink_to("moved")
    (copy.root / ".venv").symlink_to("moved/venv")
    assert all((copy.root / name).is_symlink() for name in links)
    ignored = copy.shell(f"git check-ignore {' '.join(links)}").stdout.split()
    assert ignored == list(links)
