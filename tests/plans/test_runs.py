"""Plans that run by JMeter alone, against the real targets and against one that answers wrong."""

from __future__ import annotations

import json
import math
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

import plan_files
import study_blocks
import support
import wrong_answers
from jmeter_run import Run, node_server
from tollgate.study.design import blocks, write_blocks

TARGETS = {path.stem for path in plan_files.FRAGMENT_FILES}
#: What makes a run of each plan short. A plan without an entry here fails the test below.
OPEN = {
    "schedule": "rate(30/sec) random_arrivals(3 sec) pause(1 sec)",
    "think": 100,
    # The pool of an Open Model Thread Group would keep JMeter alive for a minute.
    "jmeterengine.force.system.exit": "true",
}
SHORT = {
    "check": {"warmup": 0, "measured": 2, "pi_rate": 2},
    **dict.fromkeys(["stress", "load", "soak"], OPEN),
    "study": {"users": 3},
}


def short(plan: Path, port: int, folder: Path) -> dict[str, object]:
    """The properties of a short run of the plan against one server."""
    if plan.stem != "study":
        return SHORT[plan.stem] | {"port": port}
    # Each path and each answer of the design, by two users who ask once.
    cells = [replace(each.cell, users=2, each=1) for each in study_blocks.smoke()]
    ports = {cell.app: port for cell in cells}
    write_blocks(folder / "blocks.csv", blocks([*dict.fromkeys(cells)], seed=1), ports)
    return SHORT["study"] | {"blocks": folder / "blocks.csv"}


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """The port of the real server."""
    with node_server() as port:
        yield port


def ask(port: int, path: str) -> dict:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return json.load(answer)


def test_every_plan_is_run_here() -> None:
    assert set(SHORT) == {path.stem for path in plan_files.PLAN_FILES}


@pytest.mark.parametrize("plan", plan_files.PLAN_FILES, ids=plan_files.id_of)
@pytest.mark.parametrize("where", ["from its own folder", "from another folder"])
def test_a_plan_runs_by_jmeter_alone(plan: Path, where: str, server: int, tmp_path: Path) -> None:
    at_home = where == "from its own folder"
    run = Run(
        plan.name if at_home else plan,
        cwd=plan.parent if at_home else tmp_path,
        out=tmp_path,
        **short(plan, server, tmp_path),
    )
    assert run.that(success="false") == []
    assert run.labels - {"connect"} == TARGETS  # which the users of the study do first
    assert run.done.stderr == ""
    assert " ERROR " not in run.log.read_text()


def test_every_wrong_answer_is_a_failed_sample(tmp_path: Path) -> None:
    with wrong_answers.serving() as server:
        run = Run(
            support.PLANS / "check.jmx",
            cwd=tmp_path,
            out=tmp_path,
            **SHORT["check"] | {"port": server.server_port, "pi_rate": 5},
        )
    known = {(path, what) for path, wrong in wrong_answers.WRONG.items() for what in wrong}
    assert set(server.given) == known, "not everything wrong has been tried"
    assert run.that(success="true") == []
    assert run.labels == TARGETS
    assert len(run.samples) == server.given.total()


def test_expected_sums_are_those_of_the_formula() -> None:
    for row in plan_files.rows_of(support.PLANS / "fragments" / "sum.jmx"):
        n = int(row["n"])
        assert int(row["sum"]) == n * (n + 1) // 2


def test_expected_fibonacci_numbers_are_the_thirty_second() -> None:
    older, newer = 0, 1
    for _ in range(32):
        older, newer = newer, older + newer
    rows = plan_files.rows_of(support.PLANS / "fragments" / "kittens.jmx")
    assert {int(row["fibonacci"]) for row in rows} == {older}


def test_expected_estimates_of_pi_are_within_five_standard_errors() -> None:
    error = 5 * math.sqrt(math.pi * (4 - math.pi) / 10_000_000)
    for row in plan_files.rows_of(support.PLANS / "fragments" / "pi.jmx"):
        near = [f"{ten_thousandths / 10_000:.4f}57" for ten_thousandths in range(31_300, 31_550)]
        taken = [float(text) for text in near if re.fullmatch(row["pi"], text)]
        assert min(taken) == pytest.approx(math.pi - error, abs=1e-4)
        assert max(taken) == pytest.approx(math.pi + error, abs=1e-4)
        assert len(taken) == round((max(taken) - min(taken)) * 10_000) + 1, "there is a gap"


def test_expected_tickets_are_those_that_the_target_sells(server: int) -> None:
    for row in plan_files.rows_of(support.PLANS / "fragments" / "search.jmx"):
        query = urlencode({key: row[key] for key in ("origin", "destination", "date")})
        answer = ask(server, f"/search?{query}")
        first = answer["tickets"][0]
        assert answer["warnings"] == []
        assert len(answer["tickets"]) == int(row["tickets"]), row
        assert (first["train"], first["priceCents"]) == (
            row["first_train"],
            int(row["first_price_cents"]),
        )
