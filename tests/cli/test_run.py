"""`tollgate run` before it calls bzt."""

from tollgate.base import paths
from tollgate.cli import run


def test_the_schema_lies_where_taurus_yml_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "STATE", tmp_path / ".tollgate")
    first = (paths.SUITE / paths.RUN_FILE).read_text().splitlines()[0]
    place = tmp_path / first.partition("$schema=")[2]
    for before in (None, "of an older version"):
        if before:
            place.write_text(before)
        run.lay_out_schema()
        assert place.read_bytes() == run.SCHEMA.read_bytes()


def test_a_suite_that_can_t_be_written_to_runs_without_a_schema(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(paths, "STATE", tmp_path / "file" / ".tollgate")
    run.lay_out_schema()
    assert [it.name for it in tmp_path.iterdir()] == ["file"]


def test_plans_and_files_of_properties_are_settings_of_theirs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["-plan", "a.jmx", "b/c d.jmx", "-q", "x.properties", "-o", "modules.report=1", "y.yml"]
    left, settings = run.of_own_plans(words)
    assert left == ["-plan", "-o", "modules.report=1", "y.yml"]
    assert settings == [
        f'modules.plan.path=["{tmp_path}/a.jmx", "{tmp_path}/b/c d.jmx"]',
        f'modules.plan.property-files=["{tmp_path}/x.properties"]',
    ]


def test_another_kind_takes_bzts_own_arguments():
    words = ["-stress", "-q", "over.yml"]
    assert run.of_own_plans(words) == (words, [])
