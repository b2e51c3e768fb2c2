"""What an engine's host has: the key, its facts, its rows."""

import stat
from dataclasses import replace

import pytest

from tollgate.engines import machine
from tollgate.schedule.share import Share
from tollgate.schedule.share_rows import COPY, SPLIT

FACTS = machine.Facts(
    *(2, 3, "5.6.3", "17.0.1", "ab", {"plans/a.jmx": "cd"}), cpu="quick, one", cores=2
)
PLAN = """<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="p"/><hashTree>
<CSVDataSet testname="feed"><stringProp name="filename">${__P(items,items.csv)}</stringProp>
<stringProp name="variableNames">id</stringProp></CSVDataSet><hashTree/></hashTree></hashTree>
</jmeterTestPlan>"""


def test_the_key_is_made_once_for_this_user_alone_and_refused_where_others_read_it(tmp_path):
    key = tmp_path / "state" / "engines.keystore"
    with pytest.raises(machine.EngineError, match="tollgate engine keystore"):
        machine.check_keystore(key)
    machine.make_keystore(key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    machine.check_keystore(key)
    content = key.read_bytes()
    with pytest.raises(machine.EngineError, match="remove it first"):
        machine.make_keystore(key)
    assert key.read_bytes() == content
    assert [it.name for it in key.parent.iterdir()] == [key.name]
    key.chmod(0o640)
    with pytest.raises(machine.EngineError, match="chmod 600"):
        machine.check_keystore(key)


def test_facts_survive_the_way_through_a_property():
    assert machine.Facts.of_text(FACTS.to_text()) == FACTS
    for other in ("", "{}", "${engine.facts}", "[1]"):
        with pytest.raises(machine.EngineError):
            machine.Facts.of_text(other)


def test_what_must_be_alike_is_told_where_it_is_not():
    assert list(FACTS.differences(replace(FACTS, number=1, cpu="slow", cores=64))) == []
    others = {
        **{"jmeter": ("5.5", "JMeter"), "java": ("11", "Java"), "plugins": ("ba", "lib/ext")},
        "plans": ({"plans/a.jmx": "dc"}, "plans/a.jmx"),
    }
    for name, (value, word) in others.items():
        (line,) = FACTS.differences(replace(FACTS, **{name: value}))
        assert word in line
    assert len(list(FACTS.differences(replace(FACTS, plans={"plans/b.jmx": "cd"})))) == 2


def test_an_engine_has_its_rows_ready_both_ways(tmp_path):
    plans, folder = tmp_path / "plans", tmp_path / "engine"
    plans.mkdir()
    (plans / "p.jmx").write_text(PLAN)
    (plans / "broken.jmx").write_text("<")
    (plans / "items.csv").write_text("a\nb\nc\nd\n")
    machine.place(Share(2, 2), plans, folder)
    assert (folder / SPLIT / "items.csv").read_text() == "b\nd\n"
    assert (folder / COPY / "items.csv").read_text() == "c\nd\na\nb\n"
    machine.place(Share(1, 5), plans, folder)
    assert not (folder / SPLIT / "items.csv").exists()
    assert (folder / COPY / "items.csv").read_text() == "a\nb\nc\nd\n"
