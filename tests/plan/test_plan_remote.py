import pytest
from lxml import etree

from support import jmx_text
from tollgate.plan.remote import START_AT, begin_together, for_engines, own_name


def test_each_engine_reads_the_property_of_its_number():
    text = "${__P(rate,5)} ${__P( rate )} ${__P(rates,1)} ${__intSum(${__P(rate,5)},1)}"
    assert for_engines(text, ["rate"], {}) == (
        "${__P(engine-${__P(engine)}.rate,5)} ${__P(engine-${__P(engine)}.rate)} ${__P(rates,1)} "
        "${__intSum(${__P(engine-${__P(engine)}.rate,5)},1)}"
    )
    assert own_name("rate", 2) == "engine-2.rate"


def test_a_data_file_is_the_engines_own():
    path = "${__P(engine.rows)}/split/items.csv"
    assert for_engines("${__P(items,../data/items.csv)}", [], {"items": path}) == path
    assert for_engines("${__P(items)}", [], {"items": path}) == path


@pytest.mark.parametrize(("names", "files"), [(["rate"], {}), ([], {"rate": "x"})])
def test_a_property_that_the_plan_does_not_read_is_named(names, files):
    with pytest.raises(ValueError, match="rate"):
        for_engines("${__P(rates,1)}", names, files)


@pytest.mark.parametrize(
    "test",
    [
        '<TestPlan testname="p"/>',
        '<TestPlan testname="p"><elementProp name="TestPlan.user_defined_variables">'
        '<collectionProp name="Arguments.arguments"><elementProp name="theirs"/></collectionProp>'
        "</elementProp></TestPlan>",
    ],
)
def test_each_engine_waits_before_anything_else_of_the_plan_is_computed(tmp_path, test):
    plan = tmp_path / "plan.jmx"
    plan.write_text(jmx_text.document(f"{test}<hashTree/>"))
    begin_together(plan)
    (variables,) = etree.parse(plan).iterfind(".//TestPlan/elementProp/collectionProp")
    first, *others = variables
    assert f".{START_AT}," in first.findtext("stringProp[@name='Argument.value']")
    assert [it.get("name") for it in others] == ["theirs"] * ("theirs" in test)
