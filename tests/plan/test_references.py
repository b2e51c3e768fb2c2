"""References to variables that nothing sets."""

import random

import pytest

from support import jmx_text as jmx
from tollgate.plan.references import unset


def unset_names(tmp_path, *children, **variables):
    """(name, other groups that set it) of each reference of the plan that is refused."""
    return [(it.name, it.groups) for it in unset(*jmx.tree(tmp_path, *children, **variables))]


def reads(*texts, name="read"):
    return jmx.sampler(name, extra=jmx.arguments(**{f"a{at}": it for at, it in enumerate(texts)}))


def users(name, values):
    cells = "".join(f'<stringProp name="{it}">{it}</stringProp>' for it in (name, values))
    return f'<collectionProp name="UserParameters.names">{cells}</collectionProp>'


def extractor(kind, prop, **more):
    """Makes an extractor that sets a name, and what it sets with it."""

    def make(name):
        suffixes = ("", "_matchNr", "_1", "_12", "_g1", "_3_g2", "_g")
        return jmx.element(kind, "x", **{prop: name}, **more), {name + it for it in suffixes}

    return make


def function(call, *suffixes):
    """Makes a request that calls a function which sets a name."""
    names = ("", *suffixes)
    return lambda name: (reads(f"${{{call.format(name)}}}"), {name + it for it in names})


def simple(kind, **props):
    """Makes an element that sets a name and no other."""

    def make(name):
        return jmx.element(kind, "x", **{key: it.format(name) for key, it in props.items()}), {name}

    return make


#: Each makes an element that sets a variable, and the names that it sets by JMeter's manual.
SETTERS = [
    simple("CSVDataSet", variableNames="other, {0}", filename="absent.csv"),
    simple("CounterConfig", CounterConfig__name="{0}"),
    simple("RandomVariableConfig", variableName="{0}"),
    simple("JSR223PreProcessor", script="def x = 1\nvars.put('{0}', x.toString())"),
    simple("BeanShellPreProcessor", script='log.info(vars.get("a")); vars.put("{0}", "1");'),
    simple("ForeachController", ForeachController__returnVal="{0}"),
    lambda name: (jmx.element("UserParameters", "x", extra=users(name, "1")), {name}),
    extractor("RegexExtractor", "RegexExtractor__refname"),
    extractor("BoundaryExtractor", "BoundaryExtractor__refname"),
    extractor("HtmlExtractor", "HtmlExtractor__refname"),
    extractor("XPathExtractor", "XPathExtractor__refname"),
    extractor("XPath2Extractor", "XPathExtractor2__refname"),
    extractor("JMESPathExtractor", "JMESExtractor__referenceName"),
    lambda name: extractor("JSONPostProcessor", "JSONPostProcessor__referenceNames")(name),
    lambda name: (
        jmx.element("JSONPostProcessor", "x", JSONPostProcessor__referenceNames=f"a;{name}"),
        {"a", name, f"{name}_2", f"{name}_ALL"},
    ),
    lambda name: (
        jmx.element("JDBCSampler", "x", variableNames=f"a,{name}", resultVariable="rows"),
        {"a", name, f"{name}_#", f"{name}_1", "rows"},
    ),
    function("__Random(1,9,{})"),
    function("__time(,{})"),
    function("__RandomString(${{__Random(1,5)}},ab,{})"),
    function("__counter(TRUE,{})"),
    function("__split(a\\,b,{})", "_n", "_1", "_2"),
    function("__intSum(1,2,{})"),
    function("__groovy(1 + 2,{})"),
]
#: Which no list of ours holds: new ones in each run.
WORDS = ["page", "token", "user.id", "Order Id", "ärger", "x-1", "n", "auth_header"]


def test_what_is_refused_is_what_the_plan_reads_and_does_not_set(tmp_path):
    seed = random.SystemRandom().randrange(10**9)
    draw = random.Random(seed)
    for _ in range(150):
        set_names, inside = {"base"}, []
        for number in range(draw.randrange(4)):
            word = draw.choice(["v", "order", "Cart_", "my item", "größe"])
            plain = f"{word}{number}{draw.randrange(10**4)}"
            made, own = draw.choice(SETTERS)(plain)
            inside.append(made if draw.random() < 0.5 else jmx.simple(made))
            set_names |= own
        never = {f"{word}{draw.randrange(10**4)}" for word in draw.sample(WORDS, 3)}
        read = draw.sample(sorted(set_names | never), k=min(4, len(set_names | never)))
        escaped = f"\\${{{draw.choice(sorted(never))}}}"
        texts = [f"{draw.choice(['', 'Bearer ', '{'])}${{{it}}}" for it in read]
        inside.append(reads(*texts, escaped, "${__P(host,${base})}"))
        draw.shuffle(inside)
        found = [name for name, _ in unset_names(tmp_path, jmx.group(*inside), base="1")]
        assert sorted(found) == sorted({*read} - set_names), f"seed {seed}"


def header(value, name="Authorization"):
    rows = (
        f'<elementProp name="" elementType="Header"><stringProp name="Header.name">{name}'
        f'</stringProp><stringProp name="Header.value">{value}</stringProp></elementProp>'
    )
    rows = rows.replace(name, "Accept", 1).replace(value, "*/*", 1) + rows
    table = f'<collectionProp name="HeaderManager.headers">{rows}</collectionProp>'
    return jmx.element("HeaderManager", "headers", extra=table)


SENT = {
    "an argument": (reads("${nobody}"), ["nobody"]),
    "a path": (jmx.get("a", "/q/${nobody}/x"), ["nobody"]),
    "the second header": (header("Bearer ${nobody}"), ["nobody"]),
    "an argument of a function": (reads("${__urlencode(${nobody})}"), ["nobody"]),
    "a default of a property": (reads("${__P(a,${nobody})}"), ["nobody"]),
    "a name within a name": (reads("${item_${n}}", "${__Random(1,2,n)}"), ["item_${n"]),
    "a pause": (jmx.constant_timer("${nobody}"), ["nobody"]),
    "a loop": (jmx.element("LoopController", "x", LoopController__loops="${nobody}"), ["nobody"]),
    "a name that is escaped": (reads("\\${nobody}"), []),
    "a brace alone": (reads("${", "${ {a}", "$nobody", "{nobody}"), []),
    "a script's own": (jmx.script("s", 'def x = 1; log.info("${x}")'), []),
    "a function's own": (reads('${__groovy("${x}" + vars.get("y"))}'), []),
    "what an assertion looks for": (jmx.element("ResponseAssertion", "x", a="${nobody}"), []),
    "a shell's own": (jmx.element("SystemSampler", "x", a="${HOME}"), []),
    "what JMeter sets": (reads("${JMeterThread.last_sample_ok}", "${TESTSTART.MS}"), []),
    "a loop's number": (reads("${__jm__visitors__idx}"), []),
    "a comment": (jmx.sampler("a", TestPlan__comments="${nobody}"), []),
    "what is off": (jmx.sampler("a", enabled=False, HTTPSampler__path="${nobody}"), []),
    "a name": (jmx.sampler("${nobody}"), []),
}


@pytest.mark.parametrize("what", SENT)
def test_only_what_is_sent_or_decides_what_is_sent_is_refused(tmp_path, what):
    element, names = SENT[what]
    found = unset_names(tmp_path, jmx.group(jmx.sampler("home"), element))
    assert [name for name, _ in found] == names


MAY_SET_ANY = {
    "a script by a name that it makes": jmx.script("s", "vars.put('a' + 1, '')"),
    "a script that has them in other ways": jmx.script("s", "Login.into(vars)"),
    "a script by its context": jmx.script("s", "ctx.getVariables().put('a', '')"),
    "a script that fills in the request": jmx.script("s", "sampler.setPath('/a')"),
    "a script in a file": jmx.element("JSR223Sampler", "s", filename="login.groovy"),
    "a function": reads("${__groovy(vars.putAll([a: 1]))}"),
    "an element of a plugin": jmx.element("com.example.OAuthToken", "s"),
    "a request in Java": jmx.element("JavaSampler", "s"),
    "a feed without its file": jmx.element("CSVDataSet", "s", filename="absent.csv"),
    "a feed of unknown columns": jmx.element("CSVDataSet", "s", variableNames="${__env(C)}"),
}


@pytest.mark.parametrize("what", MAY_SET_ANY)
def test_where_something_may_set_any_variable_none_is_refused(tmp_path, what):
    setter, reader = MAY_SET_ANY[what], reads("${nobody}")
    assert unset_names(tmp_path, jmx.group(setter, reader)) == []
    assert unset_names(tmp_path, setter, jmx.group(reader)) == []
    apart = unset_names(tmp_path, jmx.group(setter), jmx.group(reader, name="others"))
    assert apart == [("nobody", ())]  # a thread sees what it has set itself


HARMLESS = [
    jmx.script("s", "log.info(vars.get('a')); vars.putObject('b', [])"),
    jmx.script("s", "SampleResult.setSuccessful(false)"),
    reads('${__groovy(vars.get("a"))}', '${__jexl3("${a}" == "1",)}'),
]


@pytest.mark.parametrize("script", HARMLESS)
def test_a_script_that_says_what_it_sets_excuses_no_other_variable(tmp_path, script):
    assert unset_names(tmp_path, jmx.group(script, reads("${nobody}"))) == [("nobody", ())]


@pytest.mark.parametrize(
    ("header", "props", "names"),
    [
        ("page,id", {}, ["pge"]),
        ('\ufeffpage,"pge"', {}, []),
        ("page;pge", {"delimiter": ";"}, []),
        ("page\tpge", {"delimiter": "\\t"}, []),
        ("page,pge", {"variableNames": "page"}, ["pge"]),
    ],
)
def test_a_feed_sets_what_it_names_or_else_what_its_header_does(tmp_path, header, props, names):
    (tmp_path / "shop.csv").write_text(f"{header}\n1,a\n", encoding="utf-8")
    feed = jmx.element("CSVDataSet", "feed", filename="shop.csv", **props)
    found = unset_names(tmp_path, feed, jmx.group(reads("${page}", "${pge}")))
    assert [name for name, _ in found] == names


def test_what_another_thread_group_sets_is_named_with_it(tmp_path):
    login = jmx.group(SETTERS[7]("token")[0], kind="SetupThreadGroup", name="login")
    found = unset_names(tmp_path, login, jmx.group(reads("${token}", "${base}")), base="1")
    assert found == [("token", ("login",))]
    around = unset_names(tmp_path, header("Bearer ${token}"), login, jmx.group(reads("a")))
    assert around == []  # it may be for the group that sets it
    assert unset_names(tmp_path, header("${toke}"), login) == [("toke", ())]


def test_user_defined_variables_are_everybodys_wherever_they_stand(tmp_path):
    own = jmx.element("Arguments", "own", extra=jmx.arguments(host="a"))
    assert unset_names(tmp_path, jmx.group(own), jmx.group(reads("${host}"), name="b")) == []


def test_what_an_included_fragment_reads_counts_where_it_is_included(tmp_path):
    (tmp_path / "cart.jmx").write_text(jmx.document(jmx.fragment(reads("${nobody}"))))
    assert unset_names(tmp_path, jmx.group(jmx.include("cart.jmx"))) == [("nobody", ())]


def test_the_line_names_the_element_and_what_was_meant(tmp_path):
    read = jmx.group(reads("${pge}", name="list"))
    (line,) = map(str, unset(*jmx.tree(tmp_path, read, page="1")))
    assert "HTTPSamplerProxy 'list'" in line
    assert "did you mean ${page}?" in line


def test_the_number_of_a_thread_is_no_way_to_set_a_variable(tmp_path):
    number = reads("${__jexl3(ctx.threadNum % 3)}", "${__groovy(ctx.getThreadNum())}")
    assert unset_names(tmp_path, jmx.group(number, reads("${nobody}"))) == [("nobody", ())]
