"""What is noticed of a plan, from plans of a few elements."""

import re

import pytest

from support import jmx_text as jmx
from support import plan_files
from tollgate.plan import lint as plan_lint

CHECKED = jmx.element("ResponseAssertion", "right")
TIMEOUTS = {
    "HTTPSampler__connect_timeout": "1000",
    "HTTPSampler__response_timeout": "${__P(response_timeout,5000)}",
}
DEFAULTS = jmx.element("ConfigTestElement", "HTTP Request Defaults", **TIMEOUTS)


@pytest.fixture
def noticed(tmp_path):
    """The remarks on a plan of these elements."""

    def lint(*children, **properties):
        path = tmp_path / "plan.jmx"
        path.write_text(jmx.plan(*children))
        return plan_lint.lint(path, properties)

    return lint


def group(*children, **how):
    return jmx.group(*children, **{"loops": 1, "duration": None, **how})


def clean(*more):
    """A group of which nothing is to be said."""
    return group(DEFAULTS, CHECKED, jmx.sampler("home"), *more)


@pytest.mark.parametrize("path", plan_files.PLAN_FILES, ids=plan_files.id_of)
def test_of_our_own_plans_there_is_nothing_to_say(path):
    assert plan_lint.lint(path, {}) == []


@pytest.fixture
def fragments(tmp_path):
    """a.jmx, which includes b.jmx, which asks something."""
    for name, inside in ("a", include("b")), ("b", jmx.sampler("home")):
        fragment = jmx.element("TestFragmentController", name, [inside])
        (tmp_path / f"{name}.jmx").write_text(jmx.plan(fragment))


def include(name, **more):
    more = {"IncludeController__includepath": f"{name}.jmx", **more}
    return jmx.element("IncludeController", f"include {name}", **more)


@pytest.mark.usefixtures("fragments")
def test_what_an_open_model_includes_is_named_with_its_file_and_group(noticed):
    simple = jmx.element("GenericController", "inner", [include("a")])
    (said,) = noticed(DEFAULTS, CHECKED, jmx.open_group(simple, name="visitors"))
    assert re.findall(r"'([^']*)'", said) == ["include a", "visitors"]
    assert "parses a.jmx anew" in said


@pytest.mark.usefixtures("fragments")
def test_an_include_that_is_off_or_of_threads_that_stay_is_no_matter(noticed):
    off = include("a", enabled=False)
    assert noticed(DEFAULTS, CHECKED, jmx.open_group(off, jmx.sampler("home"))) == []
    assert noticed(clean(include("a"))) == []


def test_a_plan_with_assertions_and_timeouts_anywhere_in_scope_is_clean(noticed):
    assert noticed(clean()) == []
    assert noticed(DEFAULTS, CHECKED, group(jmx.sampler("home"))) == []
    assert noticed(group(jmx.sampler("home", CHECKED, **TIMEOUTS))) == []


def test_samplers_that_nothing_checks_are_named_each_once(noticed):
    samplers = [jmx.sampler(f"page {number}") for number in range(7)]
    (said,) = noticed(group(DEFAULTS, *samplers, samplers[0]))
    assert said.startswith(
        "no assertion looks at the answers of 'page 0', 'page 1', 'page 2', 'page 3', 'page 4' and "
        "2 more: an error page"
    )


def test_an_assertion_beside_another_sampler_or_switched_off_checks_nothing(noticed):
    off = jmx.element("ResponseAssertion", "right", enabled=False)
    said = noticed(group(DEFAULTS, jmx.sampler("home", off), jmx.sampler("cart", CHECKED)))
    assert [line.partition(":")[0] for line in said] == [
        "no assertion looks at the answers of 'home'"
    ]


def test_each_timeout_that_is_missing_is_named(noticed):
    half = jmx.element("ConfigTestElement", "d", HTTPSampler__connect_timeout="1000")
    empty = jmx.element("ConfigTestElement", "d", HTTPSampler__response_timeout=" ")
    (said,) = noticed(group(half, empty, CHECKED, jmx.sampler("home")))
    assert said.startswith("no response timeout for 'home': a service that hangs holds its threads")


def test_another_samplers_timeouts_are_its_own(noticed):
    said = noticed(group(CHECKED, jmx.sampler("home", **TIMEOUTS), jmx.sampler("cart")))
    assert [line.partition(":")[0] for line in said] == [
        "no connect timeout for 'cart'",
        "no response timeout for 'cart'",
    ]


def test_what_sends_no_request_needs_neither(noticed):
    script = jmx.element("JSR223Sampler", "s", script="1", cacheKey="true")
    pause = jmx.element("TestAction", "p", ActionProcessor__action=1)
    debug = jmx.element("DebugSampler", "d")
    assert noticed(clean(), group(script, pause, debug)) == []


def test_of_samplers_without_a_status_no_status_is_spoken(noticed):
    kinds = ("JDBCSampler", "TCPSampler", "FTPSampler", "SmtpSampler", "PublisherSampler")
    others = [jmx.element(kind, kind) for kind in kinds]
    said = noticed(group(DEFAULTS, jmx.sampler("home", **TIMEOUTS), *others))
    assert [line.partition(":")[0] for line in said] == [
        "no assertion looks at the answers of 'home'",
        "no assertion looks at the answers of 'JDBCSampler', 'TCPSampler', 'FTPSampler', "
        "'SmtpSampler', 'PublisherSampler'",
    ]
    assert ["status" in line for line in said] == [True, False]
    assert noticed(group(DEFAULTS, CHECKED, *others)) == []


def test_a_listener_that_is_on_is_named_with_what_becomes_of_it(noticed):
    tree = jmx.element("ResultCollector", "View Results Tree", filename="")
    file = jmx.element("ResultCollector", "Aggregate", filename="out.csv")
    off = jmx.element("ResultCollector", "Graph", enabled=False)
    said = noticed(clean(), tree, file, off)
    assert said == [
        "the listener 'View Results Tree' is on, which takes memory and time: this run leaves it "
        "out, another would not; disable it",
        "the listener 'Aggregate' is on and writes out.csv, which takes memory and time: a run has "
        "the samples anyway; disable it",
    ]


def test_a_listener_of_an_included_file_is_not_left_out(noticed, tmp_path):
    tree = jmx.element("ResultCollector", "View Results Tree", filename="")
    shared = jmx.element("TestFragmentController", "shared", [tree])
    (tmp_path / "shared.jmx").write_text(jmx.document(shared))
    path = {"IncludeController__includepath": "shared.jmx"}
    (said,) = noticed(clean(jmx.element("IncludeController", "shared", **path)))
    assert said == (
        "the listener 'View Results Tree' is on, which takes memory and time: a run leaves out "
        "those of the plan itself, but not of a file that it includes; disable it"
    )


def test_a_script_that_listens_is_no_listener_that_a_run_could_do_without(noticed):
    groovy = jmx.element("JSR223Listener", "stop at errors", script="1", cacheKey="true")
    assert noticed(clean(), groovy) == []
    (said,) = noticed(clean(), jmx.element("BeanShellListener", "stop at errors", script="1"))
    assert said.startswith("the script of 'stop at errors' is interpreted each time")


def test_a_backend_listener_is_named_with_its_class_and_where_it_sends_to(noticed):
    table = jmx.arguments(application="shop", influxdbUrl="http://metrics.example:8086/write")
    listener = jmx.element("BackendListener", "to influx", extra=table, classname="a.B")
    (said,) = noticed(clean(), listener)
    assert said.startswith(
        "the Backend Listener 'to influx' is on and sends figures to "
        "http://metrics.example:8086/write while the run lasts (a.B): disable it"
    )


def test_a_host_that_a_variable_of_the_plan_holds_is_hard_coded_too(noticed):
    table = jmx.arguments(host="${server}", server="shop.example", free="${__P(host,a.example)}")
    home = {"HTTPSampler__domain": "${host}", **TIMEOUTS}
    cart = {"HTTPSampler__domain": "${free}", **TIMEOUTS}
    said = noticed(
        jmx.element("Arguments", "variables", extra=table),
        group(CHECKED, jmx.sampler("home", **home), jmx.sampler("cart", **cart)),
    )
    assert [line.partition(":")[0] for line in said] == [
        "the host shop.example is hard-coded in '${server}'"
    ]


def test_variables_that_name_each_other_are_no_host(noticed):
    table = jmx.arguments(one="${two}", two="${one}")
    home = {"HTTPSampler__domain": "${one}", **TIMEOUTS}
    variables = jmx.element("Arguments", "variables", extra=table)
    assert noticed(variables, group(CHECKED, jmx.sampler("home", **home))) == []


def test_a_hard_coded_host_is_named_once_and_a_property_is_none(noticed):
    at = {"HTTPSampler__domain": "shop.example", **TIMEOUTS}
    free = {**at, "HTTPSampler__domain": "${__P(host,shop.example)}"}
    assert noticed(group(CHECKED, jmx.sampler("home", **free))) == []
    (said,) = noticed(group(CHECKED, jmx.sampler("home", **at), jmx.sampler("cart", **at)))
    assert said.startswith("the host shop.example is hard-coded in 'home', 'cart': write ")
    assert "${__P(host,shop.example)}" in said


@pytest.mark.parametrize(
    ("kind", "props", "word"),
    [
        ("JSR223PreProcessor", {"script": "1", "cacheKey": "false"}, "compiled anew"),
        ("JSR223PreProcessor", {"script": "${token}", "cacheKey": "false"}, "compiled anew"),
        ("JSR223PreProcessor", {"script": "1", "cacheKey": ""}, ""),
        ("JSR223PreProcessor", {"script": "1"}, ""),
        ("JSR223PreProcessor", {"script": "a = '${token}'"}, "first compiled"),
        ("JSR223PreProcessor", {"script": "${token}", "cacheKey": ""}, "first compiled"),
        ("JSR223PreProcessor", {"script": "${__Random(1,9)}", "cacheKey": "x"}, "first compiled"),
        ("JSR223PreProcessor", {"script": "${__P(a)} ${__threadNum} ${own}"}, ""),
        ("JSR223PreProcessor", {"script": "${fixed}", "cacheKey": "true"}, ""),
        ("JSR223PreProcessor", {"script": "1", "cacheKey": "true"}, ""),
        ("JSR223PreProcessor", {"script": "1", "filename": "sign.groovy"}, ""),
        ("JSR223PreProcessor", {"script": "1", "scriptLanguage": "beanshell"}, "interpreted"),
        ("JSR223Assertion", {"script": "1", "scriptLanguage": "JavaScript"}, "interpreted"),
        ("BeanShellPreProcessor", {"script": "1"}, "interpreted"),
    ],
)
def test_scripts_that_cost_time_or_keep_their_first_values_are_named(
    noticed, tmp_path, kind, props, word
):
    (tmp_path / "sign.groovy").write_text("1")
    token = jmx.element("RegexExtractor", "token", RegexExtractor__refname="token")
    fixed = jmx.element("Arguments", "fixed", extra=jmx.arguments(fixed="1", token="none"))
    said = noticed(clean(fixed, token, jmx.element(kind, "sign", **props)))
    assert len(said) == bool(word)
    assert all(word in line and line.startswith("the script of 'sign' is") for line in said)


def test_a_feed_that_is_not_beside_the_plan_is_named(noticed, tmp_path):
    (tmp_path / "there.csv").write_text("a\n1\n")
    feeds = [
        jmx.element("CSVDataSet", name, filename=name)
        for name in ("there.csv", "gone.csv", "${__P(feed,there.csv)}", "${only_the_run_knows}")
    ]
    (said,) = noticed(clean(), *feeds)
    assert said.startswith("the CSV Data Set 'gone.csv' names gone.csv, which is not there")
    assert len(noticed(clean(), *feeds, feed="elsewhere.csv")) == 2


def test_a_feed_in_a_folder_that_a_variable_of_the_plan_names_is_looked_for(noticed, tmp_path):
    (tmp_path / "data").mkdir()
    folder = jmx.element("Arguments", "v", extra=jmx.arguments(dir="data", set="data"))
    setting = jmx.element("RegexExtractor", "x", RegexExtractor__refname="set")
    feeds = [
        jmx.element("CSVDataSet", name, filename=name, variableNames="user")
        for name in ("${dir}/users.csv", "${set}/users.csv")
    ]
    (said,) = noticed(clean(), folder, setting, *feeds)
    assert said.startswith(
        "the CSV Data Set '${dir}/users.csv' names data/users.csv, which is not there: its path "
        "counts from the plan's folder"
    )
    (tmp_path / "data/users.csv").write_text("asta\n")
    assert noticed(clean(), folder, setting, *feeds) == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("JSR223Sampler", "filename"),
        ("JSR223PostProcessor", "filename"),
        ("BeanShellSampler", "BeanShellSampler.filename"),
        ("BeanShellAssertion", "BeanShellAssertion.filename"),
    ],
)
def test_a_script_file_that_is_not_beside_the_plan_is_named(noticed, tmp_path, kind, name):
    def lost(file):
        script = jmx.element(kind, "sign", **{name: file})
        return [line for line in noticed(clean(script)) if "not there" in line]

    assert lost("lib/sign.groovy") == [
        f"the {kind} 'sign' names lib/sign.groovy, which is not there: its path counts from the "
        "plan's folder"
    ]
    (tmp_path / "sign.groovy").write_text("1")
    for found in ("sign.groovy", str(tmp_path / "sign.groovy"), "${only_the_run_knows}", ""):
        assert lost(found) == []


def test_a_group_without_an_end_is_named_with_what_could_end_it_left_out(noticed):
    (said,) = noticed(clean(), group(DEFAULTS, CHECKED, jmx.sampler("a"), name="all day", loops=-1))
    assert said == "the thread group 'all day' loops for ever without an end"
    endless = {"loops": -1, "name": "all day"}
    once = jmx.element("CSVDataSet", "u", stopThread="true", recycle="false")
    stop = jmx.element("TestAction", "stop", ActionProcessor__action=2)
    for ended in (
        group(DEFAULTS, CHECKED, jmx.sampler("a"), **{**endless, "duration": 60}),
        group(DEFAULTS, CHECKED, jmx.sampler("a"), once, **endless),
        group(DEFAULTS, CHECKED, jmx.sampler("a"), stop, **endless),
        group(DEFAULTS, CHECKED, **endless),
    ):
        assert noticed(ended) == []


def test_a_duration_of_nothing_and_a_feed_that_begins_again_end_nothing(noticed):
    again = jmx.element("CSVDataSet", "u", stopThread="true", recycle="true")
    for children, duration in (([], ""), ([], 0), ([again], None)):
        said = noticed(
            group(DEFAULTS, CHECKED, jmx.sampler("a"), *children, loops=-1, duration=duration)
        )
        assert len(said) == 1


def test_a_property_of_which_a_plan_and_its_fragments_do_not_speak_is_named_with_the_nearest():
    plan = plan_files.PLANS / "check.jmx"
    known = ["measured", "sum_rate", "sum_data", "sample_variables", "jmeter.save.something"]
    assert list(plan_lint.unread(plan, known)) == []
    [line] = plan_lint.unread(plan, [*known, "sum_rat"])
    assert "'sum_rat'" in line
    assert "did you mean 'sum_rate'?" in line


def test_a_plan_whose_scripts_stand_in_files_may_read_any_property(tmp_path):
    path = tmp_path / "plan.jmx"
    path.write_text(jmx.plan(group(jmx.sampler("home"))))
    assert [*plan_lint.unread(path, ["users"])]
    script = jmx.element("JSR223PreProcessor", "own", filename="own.groovy")
    path.write_text(jmx.plan(group(jmx.sampler("home"), script)))
    assert [*plan_lint.unread(path, ["users"])] == []
