import pytest

from support import jmx_text as jmx
from tollgate.plan.expressions import Expander, known
from tollgate.plan.read import read_plan


def names(collection, *texts):
    rows = "".join(f'<stringProp name="{hash(text)}">{text}</stringProp>' for text in texts)
    return f'<collectionProp name="UserParameters.{collection}">{rows}</collectionProp>'


def script(kind, text):
    return jmx.element(kind, "put", script=text)


IN_A_SAMPLER = {"BeanShellSampler__query": 'vars.remove("page");'}
TOKENS = {"JSONPostProcessor__referenceNames": "user; page;token"}
RANDOM_FEED = "com.blazemeter.jmeter.RandomCSVDataSetConfig"
JSON_PATH = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor"
SETTERS = {
    "feed": jmx.element("CSVDataSet", "pages", variableNames="user, page ,x"),
    "random feed": jmx.element(RANDOM_FEED, "pages", variableNames="page"),
    "regular expression": jmx.element("RegexExtractor", "x", RegexExtractor__refname="page"),
    "json": jmx.element("JSONPostProcessor", "x", **TOKENS),
    "jmespath": jmx.element("JMESPathExtractor", "x", JMESExtractor__referenceName="page"),
    "xpath": jmx.element("XPathExtractor", "x", XPathExtractor__refname="page"),
    "xpath 2": jmx.element("XPath2Extractor", "x", XPathExtractor2__refname="page"),
    "boundaries": jmx.element("BoundaryExtractor", "x", BoundaryExtractor__refname="page"),
    "html": jmx.element("HtmlExtractor", "x", HtmlExtractor__refname="page"),
    "json of a plugin": jmx.element(JSON_PATH, "x", VAR="page"),
    "user parameters": jmx.element("UserParameters", "x", extra=names("names", "user", "page")),
    "for each": jmx.element("ForeachController", "x", ForeachController__returnVal="page"),
    "counter": jmx.element("CounterConfig", "x", CounterConfig__name="page"),
    "random variable": jmx.element("RandomVariableConfig", "x", variableName="page"),
    "groovy": script("JSR223PreProcessor", "def n = 1\nvars.put('page', n.toString())"),
    "groovy object": script("JSR223PostProcessor", 'vars . putObject( "page", [])'),
    "beanshell": script("BeanShellPreProcessor", 'vars.put("page", "x");'),
    "beanshell sampler": jmx.element("BeanShellSampler", "x", **IN_A_SAMPLER),
}


VALUES = '<collectionProp name="UserParameters.thread_values"><collectionProp name="1">'
VALUES += '<stringProp name="2">page</stringProp></collectionProp></collectionProp>'


@pytest.fixture
def read(tmp_path):
    """The plan of a sampler `GET ${page}` beside these elements, where page is `home` at first."""

    def read_text(*beside, **variables):
        path = tmp_path / "plan.jmx"
        group = jmx.group(jmx.sampler("GET ${page}"), *beside)
        path.write_text(jmx.plan(group, **{"page": "home", **variables}))
        return read_plan(path, {})

    return read_text


@pytest.mark.parametrize("setter", SETTERS.values(), ids=SETTERS)
def test_a_label_of_a_variable_that_the_run_sets_anew_may_be_any(read, setter):
    plan = read(setter)
    assert "GET home" not in plan.labels
    assert jmx.may_have(plan, "GET cart")
    assert jmx.may_have(plan, "GET home")
    assert not jmx.may_have(plan, "PUT cart")


@pytest.mark.parametrize("setter", SETTERS.values(), ids=SETTERS)
def test_what_is_disabled_sets_nothing(read, setter):
    assert read(jmx.simple(setter, enabled=False)).labels == ("GET home",)
    assert read(setter.replace('enabled="true"', 'enabled="false"')).labels == ("GET home",)


@pytest.mark.parametrize(
    "other",
    [
        jmx.element("CSVDataSet", "users", variableNames="user,homepage"),
        jmx.element("RegexExtractor", "x", RegexExtractor__refname="page_2"),
        script("JSR223PreProcessor", "log.info(vars.get('page')); vars.put('other', 'page')"),
        jmx.element("UserParameters", "x", extra=names("names", "user") + VALUES),
    ],
)
def test_a_variable_that_nothing_sets_keeps_its_value(read, other):
    assert read(other).labels == ("GET home",)


@pytest.mark.parametrize("written", [{}, {"variableNames": " "}], ids=["absent", "empty"])
def test_a_feed_whose_file_names_its_columns_may_set_what_labels_are_made_of_and_no_more(
    read, written
):
    feed = jmx.element("CSVDataSet", "users", filename="users.csv", **written)
    plan = read(feed, jmx.timer(throughput="${rate}"), rate="25")
    assert jmx.may_have(plan, "GET cart")
    assert plan.groups[0].samplers[0].arrival_timers[0].replay.rate == 25
    named = jmx.element("CSVDataSet", "users", filename="users.csv", variableNames="user")
    assert read(named).labels == ("GET home",)


def test_a_thread_group_is_read_with_what_its_variables_are_at_the_start(tmp_path):
    feed = jmx.element("CSVDataSet", "loads", variableNames="users,again,rate")
    how = {"name": "${users} users", "threads": "${users}", "loops": "${again}"}
    group = jmx.group(jmx.sampler("a", jmx.timer(throughput="${rate}")), feed, **how)
    path = tmp_path / "plan.jmx"
    path.write_text(jmx.plan(group, users="7", again="3", rate="25"))
    (read,) = read_plan(path, {}).groups
    assert (read.name, read.threads, read.loops) == ("7 users", 7, 3)
    (timer,) = read.samplers[0].arrival_timers
    assert timer.replay is None
    assert "${rate} may be set anew by CSVDataSet 'loads'" in timer.reason


def test_a_variable_that_is_made_of_another_is_made_when_the_run_starts(read):
    feed = jmx.element("CSVDataSet", "roots", variableNames="root")
    made = jmx.element("Arguments", "made", extra=jmx.arguments(page="${root}"))
    assert read(feed, made, root="shop").labels == ("GET shop",)


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
    variables = {"host": known("127.0.0.1"), "name": known("rate")}
    assert Expander({"rate": "25"}, variables).expand(text).value == expected


@pytest.mark.parametrize(
    "text",
    [
        *("${row}", "${__time()}", "${__jexl3(10/3)}", "${__groovy(vars.get('x'))}"),
        *("${__jexl3(1/0)}", "${__intSum(1,x,2)}", "${__P(${row})}", "${__intSum(${row},1)}"),
        "${__UUID}",
    ],
)
def test_an_expression_that_only_the_run_can_fill_in_is_unknown_with_a_reason(text):
    expanded = Expander({}, {}).expand(text)
    assert expanded.value is None
    assert "${" in expanded.reason
    assert expanded.shown == text
