"""That nothing reaches past the face of a room: the names that its `__init__` exports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

SCRIPTS = ROOT / "scripts"


def past_the_face(text: str, room: str) -> Iterator[str]:
    """The modules of other rooms that a source names. room: its own, empty outside of Tollgate."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            named = [node.module or ""]
        elif isinstance(node, ast.Import):
            named = [each.name for each in node.names]
        else:
            continue
        for module in named:
            package, *inside = module.split(".")
            if package == "tollgate" and len(inside) > 1 and inside[0] != room:
                yield module


def sources() -> list[Path]:
    return [path for path in sorted(SCRIPTS.rglob("*.py")) if path.name != "__main__.py"]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(SCRIPTS)))
def test_a_room_is_used_through_its_face(path):
    package, *inside = path.relative_to(SCRIPTS).parts
    room = inside[0] if package == "tollgate" else ""
    assert list(past_the_face(path.read_text(encoding="utf-8"), room)) == []


def test_an_import_past_a_face_is_seen():
    text = "from tollgate.plan.read import read_plan\nimport tollgate.plan.model\n"
    assert list(past_the_face(text, "judge")) == ["tollgate.plan.read", "tollgate.plan.model"]
    assert list(past_the_face(text, "plan")) == []
    assert list(past_the_face("from tollgate.plan import read_plan\n", "judge")) == []
