"""Plans of strangers: what JMeter never writes is refused in one line, and expansion has an end."""

import pytest

from tollgate.plan.expressions import Expander, arithmetic, known
from tollgate.plan.jmx import PlanError, tops

PLAN = "<jmeterTestPlan><hashTree>{}</hashTree></jmeterTestPlan>"
ENTITY = '<!DOCTYPE jmeterTestPlan [<!ENTITY e SYSTEM "marker.txt">]>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ENTITY + PLAN.format("<TestPlan testname='&#38;'>&e;</TestPlan>"), "it has a DOCTYPE"),
        ('<!DOCTYPE jmeterTestPlan SYSTEM "marker.dtd">' + PLAN.format(""), "it has a DOCTYPE"),
        (PLAN.format("<hashTree>" * 199 + "</hashTree>" * 199), "it is nested more than 200 deep"),
    ],
)
def test_what_jmeter_never_writes_is_refused_in_one_line(tmp_path, text, why):
    (tmp_path / "marker.txt").write_text("not-for-strangers")
    plan = tmp_path / "plan.jmx"
    plan.write_text(text)
    with pytest.raises(PlanError) as refused:
        tops(plan)
    assert why in str(refused.value)
    assert str(refused.value).startswith(str(plan))
    assert "\n" not in str(refused.value)
    assert "not-for-strangers" not in str(refused.value)


def test_a_plan_may_be_nested_as_deep_as_any_person_does(tmp_path):
    plan = tmp_path / "plan.jmx"
    below = "<GenericController testname='a'/><hashTree>" * 100 + "</hashTree>" * 100
    plan.write_text(PLAN.format(below))
    [top] = tops(plan)
    assert len([*top.walk()]) == 100


def test_variables_that_double_a_text_are_not_known_beyond_a_length():
    variables = {"v0": known("ab")}
    for number in range(40):
        expander = Expander({}, variables)
        variables[f"v{number + 1}"] = expander.expand(f"${{v{number}}}${{v{number}}}")
    assert variables["v10"].value == "ab" * 1024
    assert variables["v40"].value is None
    assert len(variables["v40"].shown) < 100_000


@pytest.mark.parametrize("unclosed", ["${__f(" * 40, "${__f(a," * 40, "${__P(" * 1000 + ")"])
def test_calls_that_are_not_closed_are_plain_text(unclosed):
    assert Expander({}, {}).expand(unclosed).shown == unclosed


def test_calls_in_calls_are_known():
    text = "${__P(" * 5 + "a" + ",1)}" * 5
    assert Expander({"1": "2", "a": "1", "2": "3"}, {}).expand(text).value == "2"


@pytest.mark.parametrize("text", ["9" * 4000 + "*" + "9" * 4000, "9" * 400 + "/3.0", "-" * 5000])
def test_arithmetic_beyond_any_number_is_not_known(text):
    assert arithmetic([text]) == ""
