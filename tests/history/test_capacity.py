"""Capacities from run to run."""

import json

from support.capacities import BOTH, RUNS, searching
from tollgate.history.read import _capacity, _criteria
from tollgate.judge.facts import MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.report.json_model import to_json
from tollgate.report.json_verdict import to_dict


def executions(run):
    """As verdict.json has them."""
    return json.loads(to_json(to_dict(judge(run), run, "capacity", {})))["executions"]


def test_a_capacity_is_a_figure_with_the_limit_of_its_criterion():
    for judged in executions(BOTH):
        assert _criteria(judged) == []
        (figure,) = _capacity(judged)
        assert figure["interval"][0] < figure["observed"] < figure["interval"][1]
        assert figure["label"] == "sum until p95>250ms, fail>0.1%"
    first, second = (next(_capacity(it)) for it in executions(BOTH))
    assert (first["limit"], first["decides"]) == (90, True)
    assert "limit" not in second
    assert [*_capacity(executions(RUNS["a capacity below"])[0])] == []


def test_other_criteria_stay():
    (judged,) = executions(MeasuredRun((searching("fail of sum>50%", "capacity of fork<90/s"),)))
    assert [it["subject"] for it in _criteria(judged)] == ["fail"]
