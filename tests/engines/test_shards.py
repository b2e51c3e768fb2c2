"""Shares of one load, of whose records one value was edited."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import shards
from tollgate.engines.shards import read_shards
from tollgate.forecast.model import Followed, LoadStep
from tollgate.record import manifest

OF = 3
NAMES = st.sampled_from(("warmup", "schedule", "other", "visits"))
INTERIM = st.builds(manifest.InterimSchedule.of, st.floats(1, 60), st.floats(1, 600))
STEPS = (LoadStep("00:00", 0.0, 60.0, 1.0, {"visits": 1.0}),)
FORECAST = st.builds(Followed, NAMES, st.floats(0.1, 9), st.just(1.0), st.just(STEPS))
#: Of an execution's fields, those that shape its load or say how it ended.
OF_EXECUTION = {
    "name": NAMES,
    "plan": st.sampled_from(("plan/visits.jmx", "plan/other.jmx")),
    "url": st.none() | st.sampled_from(("http://127.0.0.1:8080", "http://127.0.0.1:8081")),
    "criteria": st.lists(st.sampled_from(shards.CRITERIA), max_size=2),
    "warmup": st.floats(0, 1e6),
    "measured": st.floats(0, 1e6),
    "interim": st.none() | INTERIM,
    "forecast": st.none() | FORECAST,
    **dict.fromkeys(("exit_code", "began", "ended"), st.just(None)),
    "undivided_properties": st.dictionaries(NAMES, st.text("123", min_size=1), max_size=3),
}
OF_SHARE = {
    "number": st.integers(1, OF + 1),
    "of": st.integers(1, OF + 1),
    "rows": st.sampled_from(("", "copy", "split")),
    "data": st.dictionaries(NAMES, st.text("0123456789abcdef", min_size=64, max_size=64)),
    "start_at": st.none() | st.floats(0, 2e9),
}
OF_RUN = {
    "kind": st.sampled_from(("check", "soak", "plan")),
    "criteria": st.lists(st.sampled_from(shards.CRITERIA), max_size=2),
    "settings": st.dictionaries(NAMES, st.booleans()),
    "interrupted": st.just(True),
    "problem": st.text(min_size=1),
}
LEVELS = {"execution": OF_EXECUTION, "share": OF_SHARE, "run": OF_RUN}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders of three shares of a load."""
    place = tmp_path_factory.mktemp("shares")
    return [shards.make(place / f"share-{k}", k, OF) for k in range(1, OF + 1)]


@st.composite
def edits(draw):
    """(the share's place, the level of its record, a field's name, another value)"""
    level = draw(st.sampled_from([*LEVELS]))
    name = draw(st.sampled_from([*LEVELS[level]]))
    return draw(st.integers(0, OF - 1)), level, name, draw(LEVELS[level][name])


def edited(record, level, name, value):
    if level == "execution":
        return replace(record, executions=[replace(record.executions[0], **{name: value})])
    if level == "share":
        return replace(record, share={**record.share, name: value})
    return replace(record, **{name: value})


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits())
def test_shares_of_which_one_value_was_edited_are_refused_in_one_line(folders, edit):
    place, *change = edit
    record = manifest.read(folders[place])
    changed = edited(record, *change)
    manifest.write(changed, folders[place])
    try:
        if manifest.read(folders[place]) == record:
            assert len(read_shards(folders)) == OF
            return
        with pytest.raises(manifest.ManifestError) as refused:
            read_shards(folders)
        assert len(str(refused.value).splitlines()) == 1
    finally:
        manifest.write(record, folders[place])


@settings(deadline=None)
@given(st.permutations(range(OF)))
def test_a_share_beside_a_copy_of_it_under_another_number_is_refused(folders, order):
    one, other, _ = order
    record = manifest.read(folders[other])
    twin = manifest.read(folders[one])
    manifest.write(edited(twin, "share", "number", record.share["number"]), folders[other])
    try:
        with pytest.raises(manifest.ManifestError, match="has the samples of"):
            read_shards(folders)
    finally:
        manifest.write(record, folders[other])
