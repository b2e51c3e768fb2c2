"""What JMeter's ${...} expressions are worth before the run."""

import pytest

from tollgate.plan.expressions import ExpandedText, Expander


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, text\\", "plain, text\\"),
        ("${__P(rate,10)}", "25"),
        ("${__P(absent,10)}", "10"),
        ("${__P(absent)}", "1"),
        ("${__P(absent,)}", ""),
        ("${__property(rate)}", "25"),
        ("${__property(absent,,7)}", "7"),
        ("${__property(absent)}", "absent"),
        ("${__P(absent,a\\,b)}", "a,b"),
        ("${__P(absent,f(x))}", "f(x)"),
        ("${__P(absent,${__P(rate)})}0", "250"),
        ("${__P(${name},10)}", "25"),
        ("${__intSum(${__P(rate)},5,-1)}", "29"),
        ("${__intSum(1,2,total)}", "3"),
        ("${__longSum(3000000000,1)}", "3000000001"),
        ("${__jexl3(${__P(rate)} * 4)}", "100"),
        ("${__groovy((2 + 3) * -4)}", "-20"),
        ("${__jexl3(10/4.0)}", "2.5"),
        ("${__jexl3(10/5)}", "2"),
        ("http://${host}:${__P(port,80)}/", "http://127.0.0.1:80/"),
        ("\\${host}${name}", "${host}rate"),
        ("${unclosed", "${unclosed"),
        ("a ${", "a ${"),
    ],
)
def test_an_expression_has_the_value_that_jmeter_gives_it(text, expected):
    variables = {"host": ExpandedText(("127.0.0.1",)), "name": ExpandedText(("rate",))}
    assert Expander({"rate": "25"}, variables).expand(text).value == expected


@pytest.mark.parametrize(
    "text",
    [
        "${row}",
        "${__time()}",
        "${__jexl3(10/3)}",
        "${__groovy(vars.get('x'))}",
        "${__jexl3(1/0)}",
        "${__intSum(1,x,2)}",
        "${__P(${row})}",
        "${__intSum(${row},1)}",
        "${__UUID}",
    ],
)
def test_an_expression_that_only_the_run_can_fill_in_is_unknown_with_a_reason(text):
    expanded = Expander({}, {}).expand(text)
    assert expanded.value is None
    assert "${" in expanded.reason
    assert expanded.shown == text
