"""Plans that run by JMeter alone, against the real targets and against one that answers wrong."""

import json
import math
import re
import urllib.request
from dataclasses import replace
from statistics import NormalDist
from urllib.parse import urlencode

import pytest

import support
from support import plan_files, study_blocks, wrong_answers
from support.jmeter_run import Run, node_server
from tollgate.study.design import write_blocks

#: But for those that somebody adopted.
OURS = [path for path in plan_files.PLAN_FILES if path not in plan_files.ADOPTED_FILES]
ADOPTED = {path.stem.removeprefix("check-") for path in plan_files.ADOPTED_FILES}
TARGETS = {path.stem for path in plan_files.FRAGMENT_FILES} - ADOPTED
#: What makes a run of each plan short. A plan without an entry here fails the test below.
OPEN = {
    # Arrivals are broken off at the end of the pause: a slow machine needs it.
    "schedule": "rate(30/sec) random_arrivals(3 sec) pause(5 sec)",
    "think": 100,
    # The pool of an Open Model Thread Group would keep JMeter alive for a minute.
    "jmeterengine.force.system.exit": "true",
}
SHORT = {
    "check": {"warmup": 0, "measured": 2, "pi_rate": 2, "kittens_rate": 3},
    **dict.fromkeys(["stress", "load", "soak"], OPEN),
    "study": {"users": 3},
    "compare": {
        **{"warmup": 0, "measured": 2, "period": 100, "sum_data": "../data/compare-sum.csv"},
        "sample_variables": "TESTSTART.MS,coin",
    },
    "capacity": {},
}
#: No answer is too late, however busy the machine is.
PATIENT = {"connect_timeout": 60_000, "response_timeout": 60_000}
#: What a plan asks that leaves some of the targets out.
ASKED = {"compare": {"sum", "search"}, "capacity": {"sum"}}


def short(plan, port, folder):
    """The properties of a short run of the plan against one server."""
    own = SHORT[plan.stem] | PATIENT
    if plan.stem == "compare":
        return own | {"port_0": port, "port_1": port}
    if plan.stem != "study":
        return own | {"port": port}
    # Each path and each answer of the design, by two users who ask once.
    cells = [replace(each.cell, users=2, each=1) for each in study_blocks.smoke()]
    ports = {cell.app: port for cell in cells}
    write_blocks(folder / "blocks.csv", study_blocks.blocks([*dict.fromkeys(cells)], 1), ports)
    return own | {"blocks": folder / "blocks.csv"}


@pytest.fixture(scope="module")
def server():
    """The port of the real server."""
    with node_server() as port:
        yield port


def test_every_plan_is_run_here():
    assert set(SHORT) == {path.stem for path in OURS}


FROM_ELSEWHERE = [
    pytest.param(plan, False, id=f"{plan.stem} from another folder", marks=pytest.mark.long)
    for plan in OURS
]
AT_HOME = pytest.param(support.PLANS / "check.jmx", True, id="check from its own folder")


@pytest.mark.parametrize(("plan", "at_home"), [*FROM_ELSEWHERE, AT_HOME])
def test_a_plan_runs_by_jmeter_alone(plan, at_home, server, tmp_path):
    at = (plan.name, plan.parent) if at_home else (plan, tmp_path)
    run = Run(*at, out=tmp_path, **short(plan, server, tmp_path))
    assert run.that(success="false") == []
    # The users of the study connect first.
    assert run.labels - {"connect"} == ASKED.get(plan.stem, TARGETS)
    assert run.done.stderr == ""
    assert " ERROR " not in run.log.read_text()


def test_every_wrong_answer_is_a_failed_sample(tmp_path):
    with wrong_answers.serving() as server:
        own = SHORT["check"] | {"port": server.server_port, "pi_rate": 5}
        run = Run(support.PLANS / "check.jmx", tmp_path, tmp_path, **own)
    known = {(path, what) for path, wrong in wrong_answers.WRONG.items() for what in wrong}
    assert set(server.given) == known, "not everything wrong has been tried"
    assert run.that(success="true") == []
    assert run.labels == TARGETS
    assert len(run.samples) == server.given.total()


@pytest.mark.parametrize("feed", ["sum", "compare-sum"])
def test_expected_sums_are_those_of_the_formula(feed):
    rows = plan_files.rows_in(support.ROOT / "data" / f"{feed}.csv")
    assert len({row["n"] for row in rows}) >= 20
    for row in rows:
        n = int(row["n"])
        assert row == {"n": str(n), "sum": str(n * (n + 1) // 2)}


def test_sizes_of_the_sums_to_compare_are_log_normal():
    """Between one millisecond and the next of JMeter's the shares of requests must change gently:
    otherwise a percentile hardly moves with what it measures, or jumps."""
    rows = plan_files.rows_in(support.ROOT / "data" / "compare-sum.csv")
    shares = [(place + 0.5) / len(rows) for place in range(len(rows))]
    sizes = [19_650_000 * math.exp(0.125 * NormalDist().inv_cdf(share)) for share in shares]
    assert sorted(int(row["n"]) for row in rows) == [round(size, -3) for size in sizes]


def test_expected_fibonacci_numbers_are_the_thirty_second():
    older, newer = 0, 1
    for _ in range(32):
        older, newer = newer, older + newer
    rows = plan_files.rows_of(support.PLANS / "fragments" / "kittens.jmx")
    assert {int(row["fibonacci"]) for row in rows} == {older}


def test_expected_estimates_of_pi_are_within_five_standard_errors():
    error = 5 * math.sqrt(math.pi * (4 - math.pi) / 10_000_000)
    for row in plan_files.rows_of(support.PLANS / "fragments" / "pi.jmx"):
        near = [f"{ten_thousandths / 10_000:.4f}57" for ten_thousandths in range(31_300, 31_550)]
        taken = [float(text) for text in near if re.fullmatch(row["pi"], text)]
        assert min(taken) == pytest.approx(math.pi - error, abs=1e-4)
        assert max(taken) == pytest.approx(math.pi + error, abs=1e-4)
        assert len(taken) == round((max(taken) - min(taken)) * 10_000) + 1, "there is a gap"


def test_expected_tickets_are_those_that_the_target_sells(server):
    for row in plan_files.rows_of(support.PLANS / "fragments" / "search.jmx"):
        query = urlencode({key: row[key] for key in ("origin", "destination", "date")})
        with urllib.request.urlopen(f"http://127.0.0.1:{server}/search?{query}") as body:
            answer = json.load(body)
        assert answer["warnings"] == []
        assert len(answer["tickets"]) == int(row["tickets"]), row
        first = answer["tickets"][0]
        assert [first["train"], str(first["priceCents"])] == [
            row[f"first_{it}"] for it in ("train", "price_cents")
        ]
