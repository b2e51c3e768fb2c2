"""What engines tell of themselves, and what follows from it."""

import csv
import io
import random
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tollgate.engines import machine, probe

FACTS = machine.Facts(1, 2, "5.6.3", "17", "ab", {"plans/a.jmx": "cd"}, "quick", 2)
HOSTS = ("10.0.0.1:1099", "10.0.0.2:1099")


def answers(**changes):
    """Those of two engines that are alike, changes of the second's."""
    facts = {name: changes.pop(name) for name in [*changes] if hasattr(FACTS, name)}
    other = replace(FACTS, **{"number": 2, **facts})
    second = probe.Answer(HOSTS[1], other, ["h2"], 3.0, 1.0)
    return [probe.Answer(HOSTS[0], FACTS, ["h1"], -4.0, 1.0), replace(second, **changes)]


def in_order(found):
    rows = {"${__P(engine.rows)}/items.csv": {1: "h1", 2: "h2"}}
    return [it.host for it in probe.check(found, FACTS, rows)]


def test_engines_that_are_alike_are_known_by_their_in_order():
    assert in_order(answers()[::-1]) == [*HOSTS]
    assert in_order(answers(cpu="slow", cores=64)) == [*HOSTS]
    assert in_order(answers(offset_ms=1000.5, uncertainty_ms=1.0))  # perhaps it is not wrong


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({"of": 3}, "2/3"), ({"number": 1}, HOSTS[0]), ({"jmeter": "5.5"}, "5.5")),
        *(({"java": "21"}, "21"), ({"plugins": "xy"}, "lib/ext")),
        ({"plans": {"plans/a.jmx": "other"}}, "plans/a.jmx"),
        *(({"hashes": ["h1"]}, "items.csv"), ({"hashes": [None]}, "can't read")),
        ({"offset_ms": 2000.0}, "2.0 s ahead"),
        ({"offset_ms": -1500.0}, "1.5 s behind"),
    ],
)
def test_a_difference_is_one_line_that_names_the_host(changes, words):
    with pytest.raises(machine.EngineError) as caught:
        in_order(answers(**changes))
    line = str(caught.value)
    assert line.startswith(f"engine {HOSTS[1]}")
    assert words in line
    assert "\n" not in line


def test_each_host_that_differs_is_named():
    found = answers(offset_ms=2000.0)
    found[0] = replace(found[0], hashes=[None])
    with pytest.raises(machine.EngineError) as caught:
        in_order(found)
    assert [f"engine {it}:" in str(caught.value) for it in HOSTS] == [True, True]


@pytest.mark.parametrize("ahead_ms", [0.0, 2000.4, -731.0])
def test_the_true_offset_of_a_clock_lies_within_its_bounds(ahead_ms):
    numbers_of = random.Random(7)
    looks, now = [], 5_000.25
    for _ in range(100):
        before = now  # the one before it has been written down by then
        start = now + numbers_of.uniform(0, 40)
        end = start + numbers_of.uniform(0, 3)
        seen = end + numbers_of.uniform(0.1, 30)
        not_yet = end + numbers_of.uniform(-2, 0) if looks else before
        looks.append(probe.Sample(not_yet, seen, int(start + ahead_ms), int(end + ahead_ms)))
        now = max(seen, end)
    low, high = probe.bounds(looks)
    assert low <= ahead_ms <= high
    assert high - low < 60


def test_the_plan_asks_for_the_facts_each_file_and_the_clock():
    text = probe.plan_text(["${__P(engine.rows)}/split/a.csv", "b&c.csv"])
    root = ElementTree.fromstring(text)
    labels = [it.get("testname") for it in root.iter("JavaSampler")]
    assert labels == [probe.FACTS, probe.DATA, probe.DATA, probe.CLOCK]
    told = [it.text for it in root.iter("stringProp") if it.get("name") == "Argument.value"]
    assert any("b&c.csv" in (it or "") for it in told)


def rows(*given):
    """(thread, label, message) of samples that are seen 2 ms after they end."""
    made = ["timeStamp,elapsed,label,responseMessage,threadName"]
    for at, (thread, label, message) in enumerate(given):
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow([1000 + 10 * at, 0, label, message, thread])
        made.append(text.getvalue())
    return [probe.Line(990.0 + 10 * at, 992.0 + 10 * at, line) for at, line in enumerate(made)]


def test_answers_are_put_down_to_the_host_that_gave_them():
    thread, other = (f"{host}-ask 1-1" for host in HOSTS)
    answered = probe._answers(
        rows(
            (thread, probe.FACTS, FACTS.to_text()),
            (other, probe.FACTS, FACTS.to_text()),
            *[(other, probe.DATA, "abc")] * 2,
            (other, probe.CLOCK, ""),
            (thread, probe.DATA, "abc"),
            (thread, probe.DATA, probe.hash_of(b"**ERR**")),
            (thread, probe.CLOCK, ""),
            ("10.9.9.9:1-ask 1-1", probe.CLOCK, ""),
            (thread, probe.CLOCK, ""),
        ),
        HOSTS,
        2,
        500.0,
    )
    assert [*answered] == [HOSTS[0]]  # nothing says what the other's clock shows
    first = answered[HOSTS[0]]
    assert first.facts == FACTS
    assert first.began_s == 0.502
    assert first.hashes == ["abc", None]
    assert abs(first.offset_ms) <= first.uncertainty_ms


FAILED = f"ERROR o.a.j.JMeter: Failed to create {HOSTS[1]}\n\tat "
OTHER = "INFO o.a.j.JMeter: certificate"
BUSY = "Engine is busy - please try later"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (
            f"{FAILED}unable to find valid certification path to requested target",
            OTHER,
            "another key",
        ),
        (f"{FAILED}IllegalStateException: {BUSY}", OTHER, "busy"),
        (
            f"{FAILED}ConnectException: Connection refused (Connection refused)",
            OTHER,
            "nothing listens",
        ),
        (f"{FAILED}something else", OTHER, "see "),
        # Without its name.
        (f"WARN o.a.j.JMeter: It is {HOSTS[1]}", f"ERROR o.a.j.u.JMeterUtils: {BUSY}", "busy"),
    ],
)
def test_why_an_engine_did_not_answer_is_told(tmp_path, first, second, words):
    path = tmp_path / "engines.log"
    path.write_text(f"2026-11-22 21:00:00,000 {first}\n2026-11-22 21:00:01,000 {second}\n")
    told = probe._why(HOSTS if second == OTHER else HOSTS[1:], path)
    assert told.startswith(f"engine {HOSTS[1]}: ")
    assert words in told
