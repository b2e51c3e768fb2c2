import re

import pytest

from support import jmx_text as jmx
from support import plan_files
from support.jmx_text import include
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
        (tmp_path / "plan.jmx").write_text(jmx.plan(*children))
        return plan_lint.lint(tmp_path / "plan.jmx", properties)

    return lint


def beginnings(said):
    return [line.partition(":")[0] for line in said]


def group(*children, **how):
    return jmx.group(*children, **{"loops": 1, "duration": None, **how})


def clean(*more):
    return group(DEFAULTS, CHECKED, jmx.sampler("home"), *more)


@pytest.mark.parametrize("path", plan_files.PLAN_FILES, ids=plan_files.id_of)
def test_of_our_own_plans_there_is_nothing_to_say(path):
    assert plan_lint.lint(path, {}) == []


@pytest.fixture
def fragments(tmp_path):
    """a.jmx, which includes b.jmx, which asks something."""
    for name, inside in ("a", include("b.jmx")), ("b", jmx.sampler("home")):
        (tmp_path / f"{name}.jmx").write_text(jmx.plan(jmx.fragment(inside)))


@pytest.mark.usefixtures("fragments")
def test_what_an_open_model_includes_is_named_with_its_file_and_group(noticed):
    group = jmx.open_group(jmx.simple(include("a.jmx")), name="visitors")
    (said,) = noticed(DEFAULTS, CHECKED, group)
    assert re.findall(r"'([^']*)'", said) == ["include a.jmx", "visitors"]
    assert "parses a.jmx anew" in said


@pytest.mark.usefixtures("fragments")
def test_an_include_that_is_off_or_of_threads_that_stay_is_no_matter(noticed):
    off = include("a.jmx", enabled=False)
    assert noticed(DEFAULTS, CHECKED, jmx.open_group(off, jmx.sampler("home"))) == []
    assert noticed(clean(include("a.jmx"))) == []


def defaults(**timeouts):
    return jmx.element("ConfigTestElement", "d", **timeouts)


def at(host, name="home"):
    return jmx.sampler(name, HTTPSampler__domain=host, **TIMEOUTS)


def variables(**values):
    return jmx.element("Arguments", "variables", extra=jmx.arguments(**values))


def listener(kind, **props):
    return jmx.element(kind, "stop at errors", script="1", **props)


OFF = jmx.element("ResponseAssertion", "right", enabled=False)
HOME, CART = jmx.sampler("home"), jmx.sampler("cart")
HALF = defaults(HTTPSampler__connect_timeout="1000"), defaults(HTTPSampler__response_timeout=" ")
PAGES = [jmx.sampler(f"page {number}") for number in range(7)]
SCRIPT = jmx.element("JSR223Sampler", "s", script="1", cacheKey="true")
PAUSE = jmx.element("TestAction", "p", ActionProcessor__action=1)
KINDS = ("JDBCSampler", "TCPSampler", "FTPSampler", "SmtpSampler", "PublisherSampler")
OTHERS = [jmx.element(kind, kind) for kind in KINDS]
UNCHECKED = "no assertion looks at the answers of "
INFLUX = "http://metrics.example:8086/write"
TABLE = {"extra": jmx.arguments(application="shop", influxdbUrl=INFLUX), "classname": "a.B"}
SERVER = {"host": "${server}", "server": "shop.example", "free": "${__P(host,a.example)}"}
HARD_CODED = "the host shop.example is hard-coded in "
#: What a plan is made of, and what is said of it at least.
SAID = {
    "all in a group": ([clean()], []),
    "all above the group": ([DEFAULTS, CHECKED, group(HOME)], []),
    "all in the sampler": ([group(jmx.sampler("home", CHECKED, **TIMEOUTS))], []),
    "each that nothing checks once": (
        [group(DEFAULTS, *PAGES, PAGES[0])],
        [f"{UNCHECKED}'page 0', 'page 1', 'page 2', 'page 3', 'page 4' and 2 more: an error page"],
    ),
    "an assertion beside another sampler or switched off": (
        [group(DEFAULTS, jmx.sampler("home", OFF), jmx.sampler("cart", CHECKED))],
        [f"{UNCHECKED}'home':"],
    ),
    "a timeout that is missing": (
        [group(*HALF, CHECKED, HOME)],
        ["no response timeout for 'home': a service that hangs holds its threads"],
    ),
    "another sampler's timeouts": (
        [group(CHECKED, jmx.sampler("home", **TIMEOUTS), CART)],
        ["no connect timeout for 'cart':", "no response timeout for 'cart':"],
    ),
    "what sends no request": (
        [clean(), group(SCRIPT, PAUSE, jmx.element("DebugSampler", "d"))],
        [],
    ),
    "samplers without a status": (
        [group(DEFAULTS, jmx.sampler("home", **TIMEOUTS), *OTHERS)],
        [f"{UNCHECKED}'home':", UNCHECKED + ", ".join(f"'{kind}'" for kind in KINDS) + ":"],
    ),
    "checked samplers without a status": ([group(DEFAULTS, CHECKED, *OTHERS)], []),
    "a script that listens": ([clean(), listener("JSR223Listener", cacheKey="true")], []),
    "a script that listens and is interpreted": (
        [clean(), listener("BeanShellListener")],
        ["the script of 'stop at errors' is interpreted each time"],
    ),
    "a backend listener": (
        [clean(), jmx.element("BackendListener", "to influx", **TABLE)],
        [
            f"the Backend Listener 'to influx' is on and sends figures to {INFLUX} while the run "
            "lasts (a.B): disable it"
        ],
    ),
    "a host that a variable of the plan holds": (
        [variables(**SERVER), group(CHECKED, at("${host}"), at("${free}", "cart"))],
        [f"{HARD_CODED}'${{server}}':"],
    ),
    "variables that name each other": (
        [variables(one="${two}", two="${one}"), group(CHECKED, at("${one}"))],
        [],
    ),
    "a host of a property": ([group(CHECKED, at("${__P(host,shop.example)}"))], []),
    "a host twice": (
        [group(CHECKED, at("shop.example"), at("shop.example", "cart"))],
        [f"{HARD_CODED}'home', 'cart': write ${{__P(host,shop.example)}}"],
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_costs_checks_or_time_or_freedom_is_named_and_nothing_else(noticed, name):
    children, starts = SAID[name]
    said = noticed(*children)
    assert len(said) == len(starts)
    assert [it for it, start in zip(said, starts, strict=True) if not it.startswith(start)] == []


def test_of_samplers_without_a_status_no_status_is_spoken(noticed):
    said = noticed(*SAID["samplers without a status"][0])
    assert ["status" in line for line in said] == [True, False]


TREE = jmx.element("ResultCollector", "View Results Tree", filename="")


def test_a_listener_that_is_on_is_named_with_what_becomes_of_it(noticed):
    file = jmx.element("ResultCollector", "Aggregate", filename="out.csv")
    off = jmx.element("ResultCollector", "Graph", enabled=False)
    assert noticed(clean(), TREE, file, off) == [
        "the listener 'View Results Tree' is on, which takes memory and time: this run leaves it "
        "out, another would not; disable it",
        "the listener 'Aggregate' is on and writes out.csv, which takes memory and time: a run has "
        "the samples anyway; disable it",
    ]


def test_a_listener_of_an_included_file_is_not_left_out(noticed, tmp_path):
    (tmp_path / "shared.jmx").write_text(jmx.document(jmx.fragment(TREE)))
    (said,) = noticed(clean(include("shared.jmx")))
    assert said == (
        "the listener 'View Results Tree' is on, which takes memory and time: a run has the "
        "samples anyway; disable it"
    )


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
    fixed = variables(fixed="1", token="none")
    said = noticed(clean(fixed, token, jmx.element(kind, "sign", **props)))
    assert len(said) == bool(word)
    assert all(word in line and line.startswith("the script of 'sign' is") for line in said)


def test_a_feed_that_is_not_beside_the_plan_is_named(noticed, tmp_path):
    (tmp_path / "there.csv").write_text("a\n1\n")
    names = ("there.csv", "gone.csv", "${__P(feed,there.csv)}", "${only_the_run_knows}")
    feeds = [jmx.element("CSVDataSet", name, filename=name) for name in names]
    (said,) = noticed(clean(), *feeds)
    assert said.startswith("the CSVDataSet 'gone.csv' names gone.csv, which is not there")
    assert len(noticed(clean(), *feeds, feed="elsewhere.csv")) == 2


def test_a_feed_in_a_folder_that_a_variable_of_the_plan_names_is_looked_for(noticed, tmp_path):
    (tmp_path / "data").mkdir()
    folder = variables(dir="data", set="data")
    setting = jmx.element("RegexExtractor", "x", RegexExtractor__refname="set")
    names = ("${dir}/users.csv", "${set}/users.csv")
    feeds = [jmx.element("CSVDataSet", it, filename=it, variableNames="user") for it in names]
    (said,) = noticed(clean(), folder, setting, *feeds)
    assert said.startswith(
        "the CSVDataSet '${dir}/users.csv' names data/users.csv, which is not there: its path "
        "counts from the plan's folder"
    )
    (tmp_path / "data/users.csv").write_text("asta\n")
    assert noticed(clean(), folder, setting, *feeds) == []


SCRIPT_FILES = {
    **dict.fromkeys(("JSR223Sampler", "JSR223PostProcessor"), "filename"),
    **{it: f"{it}.filename" for it in ("BeanShellSampler", "BeanShellAssertion")},
}


@pytest.mark.parametrize(("kind", "name"), SCRIPT_FILES.items())
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
    def endless(*children, **how):
        return group(DEFAULTS, CHECKED, *children, name="all day", loops=-1, **how)

    asks = jmx.sampler("a")
    said = ["the thread group 'all day' loops for ever without an end"]
    assert noticed(clean(), endless(asks)) == said
    once = jmx.element("CSVDataSet", "u", stopThread="true", recycle="false")
    stop = jmx.element("TestAction", "stop", ActionProcessor__action=2)
    for ended in (endless(asks, duration=60), endless(asks, once), endless(asks, stop), endless()):
        assert noticed(ended) == []
    # A duration of nothing and a feed that begins again end nothing.
    again = jmx.element("CSVDataSet", "u", stopThread="true", recycle="true")
    for goes_on in (endless(asks, duration=""), endless(asks, duration=0), endless(asks, again)):
        assert noticed(goes_on) == said


def test_a_property_of_which_a_plan_and_its_fragments_do_not_speak_is_named_with_the_nearest():
    plan = plan_files.PLANS / "check.jmx"
    known = ["measured", "sum_rate", "sum_data", "sample_variables", "jmeter.save.something"]
    assert list(plan_lint.unread(plan, known)) == []
    [line] = plan_lint.unread(plan, [*known, "sum_rat"])
    assert "'sum_rat'" in line
    assert "did you mean 'sum_rate'?" in line


def test_a_plan_whose_scripts_stand_in_files_may_read_any_property(tmp_path):
    script = jmx.element("JSR223PreProcessor", "own", filename="own.groovy")
    path = tmp_path / "plan.jmx"
    for scripts, lines in (([], 1), ([script], 0)):
        path.write_text(jmx.plan(group(jmx.sampler("home"), *scripts)))
        assert len([*plan_lint.unread(path, ["users"])]) == lines


def test_a_group_that_is_switched_off_by_its_number_of_threads_is_told(noticed):
    off = group(jmx.sampler("off"), name="admins", threads="${__P(admins,0)}")
    said = "without threads or loops, so that it sends nothing: 'admins'"
    assert said in noticed(clean(), off)
    assert said not in noticed(clean(), off, admins="3")


def test_a_property_without_a_value_and_without_a_default_is_named(noticed):
    sent = jmx.post("a", "/", "${__P(token)} ${__P(page,3)} ${__P(page)}", port="80")
    plan = [DEFAULTS, CHECKED, group(sent)]
    (said,) = [it for it in noticed(*plan, page="2") if "no value" in it]
    assert "'${__P(token)}', for which JMeter takes 1" in said
    assert not [it for it in noticed(*plan, page="2", token="t") if "no value" in it]
    login = jmx.script("log in", "props.put('token', '1')")
    assert not [it for it in noticed(*plan, group(login, name="b")) if "no value" in it]
