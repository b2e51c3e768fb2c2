"""What a person is told while something takes long."""

import time

from tollgate.base import patience


def test_what_takes_long_is_said_until_it_ends(monkeypatch, capfd):
    monkeypatch.setattr(patience, "_TOLD_S", 0.01)
    said, until = "", time.monotonic() + 30
    with patience.telling("reading api.json"):
        while said.count("\n") < 2 and time.monotonic() < until:
            time.sleep(0.01)
            said += capfd.readouterr().err
    capfd.readouterr()
    assert said.startswith("reading api.json: 0 s\nreading api.json: ")
    time.sleep(0.05)
    assert not capfd.readouterr().err


def test_what_is_quick_is_not_said(capfd):
    with patience.telling("reading api.json"):
        pass
    assert not capfd.readouterr().err
