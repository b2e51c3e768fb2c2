"""A plan of a user's own, which each remote engine runs as it is."""

from types import SimpleNamespace

from bzt.utils import BetterDict

from support import jmx_text as jmx
from tollgate.engines.probe import hash_of
from tollgate.taurus.remote_load import RemoteLoad
from tollgate.taurus.shared import PreparedExecution


def test_each_engine_is_asked_for_the_rows_of_the_users_plan(tmp_path):
    rows = jmx.element("CSVDataSet", "items", filename="items.csv", variableNames="id")
    (tmp_path / "own.jmx").write_text(jmx.plan(jmx.group(jmx.sampler("home"), rows)))
    (tmp_path / "items.csv").write_text("1\n2\n")
    engine = SimpleNamespace(config=BetterDict.from_dict({"modules": {"jmeter": {}}}))
    scenario, files = BetterDict.from_dict({"script": str(tmp_path / "own.jmx")}), {}
    remote = RemoteLoad(("127.0.0.1:1", "127.0.0.1:3"), "")
    prepared = PreparedExecution()
    remote._give(engine, "own.jmx", scenario, prepared, files)
    assert files == {"items.csv": dict.fromkeys((1, 2), hash_of(b"1\n2\n"))}
    assert "2 times the plan's" in prepared.notes[0]
