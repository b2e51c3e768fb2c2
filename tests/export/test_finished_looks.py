"""What the workers of a run that has ended were last seen with."""

import json

from tollgate.export.finished import _Looks


def test_damaged_lines_about_workers_are_passed_over(tmp_path):
    look = {"time": 1000, "app": "fork", "worker": 0, "rss": 5}
    damaged = [
        "[]",
        "5",
        "[" * 100_000,
        '{"time": "1"}',
        '{"time": 1, "app": [], "worker": 0}',
        "{",
    ]
    file = tmp_path / "workers.jsonl"
    file.write_text("\n".join([*damaged, json.dumps(look), *damaged]))
    assert _Looks(file).until(1.0) == {("fork", 0): look}
    assert _Looks(file).until(0.9) == {}
