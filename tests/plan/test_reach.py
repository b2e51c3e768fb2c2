"""Labels of a plan that no run of it can send."""

import random
from functools import partial

import pytest

from support import jmx_text as jmx
from tollgate.criteria.grammar import parse
from tollgate.gather.context import EvidenceError, refuse_never_sent
from tollgate.plan.reach import uncompared


@pytest.fixture
def read(tmp_path):
    return partial(jmx.read, tmp_path)


def condition(kind, text):
    return lambda *inside: jmx.element(kind, "c", inside, **{f"{kind}__condition": text})


def share(style, prop, number):
    props = {"ThroughputController__style": style, f"ThroughputController__{prop}": number}
    return lambda *inside: jmx.element("ThroughputController", "c", inside, **props)


def loops(number):
    return lambda *inside: jmx.element("LoopController", "c", inside, LoopController__loops=number)


def percent(number):
    """As JMeter's window writes it."""
    name = "ThroughputController.percentThroughput"
    extra = f"<FloatProperty><name>{name}</name><value>{number}</value></FloatProperty>"
    props = {"ThroughputController__style": 1, "ThroughputController__maxThroughput": 0}
    return lambda *inside: jmx.element("ThroughputController", "c", inside, extra=extra, **props)


def weighted(weight):
    row = "".join(f'<stringProp name="0">{it}</stringProp>' for it in ("own", weight, "true"))
    table = f'<collectionProp name="Weights"><collectionProp name="1">{row}</collectionProp>'
    kind = "com.blazemeter.jmeter.control.WeightedSwitchController"
    extra = f"{table}</collectionProp>"
    return lambda *inside: jmx.element(kind, "c", [jmx.simple(*inside, name="own")], extra=extra)


#: Around what is in them: those in which nothing runs, and those in which something may.
OFF = {
    "0 threads": lambda *inside: jmx.group(*inside, threads=0),
    "0 threads by a property": lambda *inside: jmx.group(*inside, threads="${__P(admins,0)}"),
    "0 loops": lambda *inside: jmx.group(*inside, loops=0),
}
INNER_OFF = {
    "false": condition("IfController", "false"),
    "false by a property": condition("IfController", "${__P(extras,false)}"),
    "while false": condition("WhileController", " false"),
    "no loop": loops(0),
    "0 percent": percent("0.0"),
    "0 percent as text": share(1, "percentThroughput", "${__P(share,0)}"),
    "0 executions": share(0, "maxThroughput", 0),
    "a weight of 0": weighted(0),
}
INNER_ON = {
    "true": condition("IfController", "true"),
    "unknown": condition("IfController", "${__jexl3(${x} == 1,)}"),
    "a variable": condition("IfController", "${asked}"),
    "some loops": loops("${n}"),
    "30 percent": percent("30.0"),
    "an execution": share(0, "maxThroughput", 1),
    "a weight": weighted(3),
    "simple": jmx.simple,
}


def test_what_is_never_sent_is_what_stands_below_something_that_is_off(read):
    seed = random.SystemRandom().randrange(10**9)
    draw = random.Random(seed)
    for _ in range(60):
        groups, sent, labels = [], set(), set()
        for _ in range(draw.randrange(1, 4)):
            is_on = draw.random() < 0.7
            inside = []
            for _ in range(draw.randrange(1, 5)):
                part, label, runs = jmx.sampler, f"label {draw.randrange(6)}", is_on
                written = draw.choice([label, f"${{__P(a,{label})}}"])
                part = part(written)
                for _ in range(draw.randrange(3)):
                    around_is_on = draw.random() < 0.7
                    kinds = INNER_ON if around_is_on else INNER_OFF
                    part = draw.choice([*kinds.values()])(part)
                    runs &= around_is_on
                inside.append(part)
                labels.add(label)
                sent |= {label} if runs else set()
            groups.append((jmx.group if is_on else draw.choice([*OFF.values()]))(*inside))
        assert set(read(*groups).never_sent) == labels - sent, f"seed {seed}"


@pytest.mark.parametrize(
    "around", [*OFF.values(), *(lambda *it, a=a: jmx.group(a(*it)) for a in INNER_OFF.values())]
)
def test_a_criterion_on_a_label_that_can_not_be_sent_is_refused(read, around):
    plan = read(around(jmx.sampler("serach")), jmx.group(jmx.sampler("search")))
    criteria = [parse("p95 of serach>1s", ["serach"])]
    with pytest.raises(EvidenceError) as refused:
        refuse_never_sent(criteria, plan)
    assert "did you mean 'search'?" in str(refused.value)
    assert "\n" not in str(refused.value)
    refuse_never_sent([parse("p95 of search>1s", ["search"]), parse("fail>1%")], plan)


def test_a_label_that_a_variable_or_a_script_may_make_is_not_refused(read):
    plan = read(jmx.group(jmx.sampler("item 3"), threads=0), jmx.group(jmx.sampler("item ${n}")))
    refuse_never_sent([parse("p95 of item 3>1s", ["item 3"])], plan)
    rename = jmx.script("s", "SampleResult.setSampleLabel('home')")
    plan = read(jmx.group(jmx.sampler("home"), threads=0), jmx.group(rename))
    refuse_never_sent([parse("p95 of home>1s", ["home"])], plan)


def test_transactions_of_which_nothing_runs_are_never_sent(read):
    inside = jmx.element("TransactionController", "buy", [jmx.sampler("pay")])
    assert set(read(jmx.group(inside, threads=0)).never_sent) == {"buy", "pay"}
    assert read(jmx.group(inside)).never_sent == {}


def if_controller(text, *inside, is_expression="true"):
    props = {"IfController__condition": text, "IfController__useExpression": is_expression}
    return jmx.element("IfController", "c", [*inside], **props)


def while_controller(text, *inside):
    return jmx.element("WhileController", "c", [*inside], WhileController__condition=text)


NOT_COMPARED = [
    if_controller('"${n}" == "1"', jmx.sampler("a")),
    if_controller("${JMeterThread.last_sample_ok}==false", jmx.sampler("a")),
    if_controller("${__P(n,1)} > 2", jmx.sampler("a")),
    if_controller("${n} && ${__jexl3(1 == 1,)}", jmx.sampler("a")),
    while_controller("${n} < 10", jmx.simple(jmx.sampler("a"))),
]
COMPARED = [
    if_controller('${__jexl3("${n}" == "1",)}', jmx.sampler("a")),
    if_controller('"${n}" == "1"', jmx.sampler("a"), is_expression="false"),
    if_controller("${n}", jmx.sampler("a")),
    if_controller(" ${__P(on,false)} ", jmx.sampler("a")),
    if_controller("${__P(on,0)}", jmx.sampler("a")),
    if_controller("${n} == 1", jmx.think(), jmx.script("s", "log.warn('a')")),
    while_controller('${__jexl3("${n}" != "<EOF>",)}', jmx.sampler("a")),
    while_controller('"${n}" != "<EOF>"', jmx.sampler("a")),
    while_controller("LAST", jmx.sampler("a")),
    while_controller("${a}${n}", jmx.sampler("a")),
]


@pytest.mark.parametrize("controller", [*NOT_COMPARED, *COMPARED])
def test_a_comparison_that_jmeter_does_not_make_is_refused_where_it_is_about_requests(
    tmp_path, controller
):
    root, _, running = jmx.tree(tmp_path, jmx.group(jmx.regex("n", "(.+)"), controller))
    assert len([*uncompared(root, running)]) == (controller in NOT_COMPARED)


def test_what_an_expression_lets_in_is_the_word_true_in_any_case(read):
    for text, is_sent in [("True", True), (" ${__P(on, TRUE)}", True), ("1", False), ("", False)]:
        plan = read(jmx.group(jmx.sampler("b"), if_controller(text, jmx.sampler("a"))))
        assert ("a" not in plan.never_sent) == is_sent
