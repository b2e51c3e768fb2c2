"""Taurus's settings and log, and what JMeter leaves, without their secrets."""

import logging
from types import SimpleNamespace

import pytest
import yaml

from tollgate.record.redaction import MARK, Redaction
from tollgate.taurus import secrecy

HARMLESS = "# a comment that is kept\nmodules:\n  x:\n    rate: 5\n"
TELLING = "# a comment\n~modules:\n  x:\n    api_token: S3CRET-token\n    rate: 5\n"


@pytest.fixture
def engine(tmp_path):
    (tmp_path / "harmless.yml").write_text(HARMLESS)
    (tmp_path / "telling.yml").write_text(TELLING)
    made = secrecy.RecordingEngine(logging.getLogger("test"), Redaction())
    made.config.merge(
        {"settings": {"artifacts-dir": str(tmp_path / "run"), "check-updates": False}}
    )
    return made


def test_the_settings_stand_in_the_folder_without_their_secrets(engine, tmp_path):
    files = [str(tmp_path / name) for name in ("harmless.yml", "telling.yml")]
    engine.create_artifacts_dir(files, engine.configure(files, read_config_files=False))
    run = tmp_path / "run"
    kept = {path.name: path.read_text() for path in run.iterdir()}
    assert {"effective.yml", "effective.json", "merged.yml", "merged.json"} < set(kept)
    assert [name for name, text in kept.items() if "S3CRET" in text] == []
    assert kept["harmless.yml"] == HARMLESS
    assert yaml.safe_load(kept["telling.yml"])["modules"]["x"]["rate"] == 5
    assert engine.config["modules"]["x"]["api_token"] == "S3CRET-token"


def test_a_secret_is_hidden_in_the_log_from_the_moment_that_it_is_known(caplog):
    redaction, factory = Redaction(), logging.getLogRecordFactory()
    try:
        secrecy.hide_in_log(redaction)
        redaction.settings({"password": "S3CRET-password"})
        try:
            raise ValueError("S3CRET-password")
        except ValueError:
            logging.getLogger("a module").exception("asked with %r, 100 %% sure", "S3CRET-password")
    finally:
        logging.setLogRecordFactory(factory)
    (record,) = caplog.records
    assert record.getMessage() == f"asked with '{MARK}', 100 % sure"
    assert f"ValueError: {MARK}" in caplog.text
    assert "S3CRET" not in caplog.text


@pytest.fixture
def redaction():
    """Knows of a token."""
    made = Redaction()
    made.settings({"token": "S3CRET-token"})
    return made


def test_logs_are_written_anew_and_samples_and_verdicts_never(redaction, tmp_path):
    logs = ("jmeter.log", "jmeter-1.out", "error.jtl", "modified_a.jmx", "profile/jmeter.out")
    others = ("kpi.jtl", "run.json", "junit.xml")
    (tmp_path / "profile").mkdir()
    for name in (*logs, *others):
        (tmp_path / name).write_bytes(b"\xff S3CRET-token\r\n\x00")
    (tmp_path / "other.log").write_text("nothing")
    before = (tmp_path / "other.log").stat().st_ino
    for folder in (None, str(tmp_path)):  # a run may never have had a folder
        secrecy.hide_in_by_products(SimpleNamespace(artifacts_dir=folder, redaction=redaction))
    for name in logs:
        assert (tmp_path / name).read_bytes() == f"\xff {MARK}\r\n\x00".encode("latin-1")
    for name in others:
        assert b"S3CRET-token" in (tmp_path / name).read_bytes()
    assert (tmp_path / "other.log").stat().st_ino == before
    left = {it.relative_to(tmp_path).as_posix() for it in tmp_path.rglob("*") if it.is_file()}
    assert left == {*logs, *others, "other.log"}


def test_a_log_that_cannot_be_written_anew_is_told(redaction, tmp_path, monkeypatch, capsys):
    (tmp_path / "jmeter.log").write_text("S3CRET-token")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(secrecy.Path, "replace", full)
    secrecy.hide_in_by_products(SimpleNamespace(artifacts_dir=str(tmp_path), redaction=redaction))
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert f"{tmp_path / 'jmeter.log'} may hold secrets" in said[0]
    assert "No space left on device" in said[0]
    assert [it.name for it in tmp_path.iterdir()] == ["jmeter.log"]
