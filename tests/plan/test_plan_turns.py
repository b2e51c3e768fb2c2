"""What a thread keeps to itself from turn to turn, where an arrival is one turn."""

import pytest
from lxml import etree

from support import jmx_text as jmx
from support.early_ends import loop
from tollgate.plan.sessions import keep_together, why_of_a_thread

PERCENT = {"ThroughputController__style": 1, "ThroughputController__perThread": "true"}
#: An element, and what of it says afterwards that all threads keep it together.
KEPT = {
    "Interleave": (jmx.element("InterleaveControl", "it"), "InterleaveControl.accrossThreads=true"),
    "percent": (
        jmx.element("ThroughputController", "it", **PERCENT),
        "ThroughputController.perThread=false",
    ),
    "Counter": (jmx.counter(name="it", per_user="true"), "CounterConfig.per_user=false"),
    "Counter of a loop": (
        loop(3, jmx.counter(name="it", per_user="true")),
        "CounterConfig.reset_on_tg_iteration=true",
    ),
    "rows of a thread": (
        jmx.element("CSVDataSet", "it", shareMode="shareMode.thread"),
        "shareMode=shareMode.all",
    ),
    "a seed of a thread": (
        jmx.element("RandomVariableConfig", "it", perThread="true", randomSeed=3),
        "perThread=false",
    ),
    "a loop of the first turn": (
        jmx.element("LoopController", "it", LoopController__continue_forever="false"),
        "LoopController.continue_forever=true",
    ),
    "a function": (jmx.get("it", "/${__counter( TRUE ,n)}?a=1"), "HTTPSampler.path="),
}


def tree(text):
    return etree.fromstring(f"<hashTree>{text}</hashTree>")


def props(found):
    return {f"{it.get('name')}={it.text}" for it in found.iter("stringProp", "boolProp")}


@pytest.mark.parametrize("what", KEPT)
def test_what_a_thread_keeps_is_kept_by_all_together_and_told(what):
    text, prop = KEPT[what]
    found = tree(text)
    assert len(keep_together([found])) == 1
    assert any(it.startswith(prop) for it in props(found))
    assert "TRUE" not in etree.tostring(found, encoding="unicode")
    assert keep_together([found]) == []


ALIKE = {
    "Interleave across threads": jmx.element(
        "InterleaveControl", "it", InterleaveControl__accrossThreads="true"
    ),
    "Counter of all": jmx.counter(),
    "rows of all": jmx.element("CSVDataSet", "it", shareMode="shareMode.all"),
    "rows of a group": jmx.element("CSVDataSet", "it", shareMode="shareMode.group"),
    "order by chance": jmx.element("RandomOrderController", "it"),
    "a loop": loop(3, jmx.sampler("it")),
    "a function": jmx.get("it", "/${__counter(FALSE,n)}"),
}


@pytest.mark.parametrize("what", ALIKE)
def test_what_all_threads_keep_together_stays_as_it_is(what):
    found = tree(ALIKE[what])
    before = etree.tostring(found)
    assert (keep_together([found]), etree.tostring(found)) == ([], before)


REFUSED = {
    "a number of times": (jmx.element("ThroughputController", "it"), "choose Percent Executions"),
    "by weights": (jmx.element("WeightedSwitchController", "it"), "a label and a weight"),
    "the turn's number": (jmx.get("it", "/${__iterationNum}"), "__iterationNum counts the turns"),
    "the group's turns": (jmx.get("it", "/${__jm__users__idx}"), "__jm__ counts the turns"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_only_a_user_of_many_turns_can_do_is_refused_with_what_to_do(what):
    text, named = REFUSED[what]
    assert named in why_of_a_thread(tree(text)[0])


def test_a_script_that_asks_for_the_turn_is_refused_and_a_percentage_is_not():
    asks = jmx.script("it", "vars.put('n', '' + vars.getIteration())")
    assert "getIteration() counts" in why_of_a_thread(tree(asks)[0])
    assert why_of_a_thread(tree(KEPT["percent"][0])[0]) == ""
