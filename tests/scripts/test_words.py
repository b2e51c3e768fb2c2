"""scripts/dev/words finds names that say nothing of their value."""

import pytest

from support import ROOT, run

LONG = "\n".join(["    step()"] * 14)


def words(folder, source):
    """Runs the check on a product of one file, and returns what it prints and its exit code."""
    room = folder / "scripts" / "tollgate" / "room"
    room.mkdir(parents=True)
    (room / "file.py").write_text(source)
    done = run(ROOT / "scripts" / "dev" / "words", folder)
    return done.stdout, done.returncode


@pytest.mark.parametrize(
    ("source", "line", "word"),
    [
        ("for it in rows:\n    print(it)\n", 1, "it"),
        ("total = sum(\n    it.ms\n    for it in rows\n)\n", 3, "it"),
        ("key = lambda it: it.ms\n", 1, "it"),
        ("def sent(of):\n    return of\n", 1, "of"),
        ("def sent(*, what):\n    return what\n", 1, "what"),
        (f"def sent():\n    found = 1\n{LONG}\n", 2, "found"),
        (f"async def sent():\n    found = 1\n{LONG}\n", 2, "found"),
        (f"def sent(known):\n{LONG}\n    step()\n", 1, "known"),
    ],
)
def test_a_vague_name_is_found(tmp_path, source, line, word):
    assert words(tmp_path, source) == (f"scripts/tollgate/room/file.py:{line}: {word}\n", 1)


@pytest.mark.parametrize(
    "source",
    [
        "total = sum(it.ms for it in rows)\n",
        "def sent():\n    found = 1\n    return found\n",
        "def sent(known):\n    return known\n",
        f"def sent(label):\n{LONG}\n    return label.found\n",
    ],
)
def test_other_names_are_not(tmp_path, source):
    assert words(tmp_path, source) == ("", 0)
