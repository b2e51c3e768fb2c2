"""scripts/dev/size counts lines of code, and no text for readers."""

from support import ROOT, run

SAMPLE = '''"""A module."""

# A comment.
TEXT = """two
lines"""


class Record:
    """A record,
    in two lines."""

    ms: float  # of a request
    """An attribute."""

    def twice(self):
        return (
            2 * self.ms
        )
'''


def test_docstrings_comments_and_blank_lines_are_no_code(tmp_path):
    for name, text in {
        "scripts/tollgate/stats/__init__.py": '"""A room."""\n',
        "scripts/tollgate/stats/sample.py": SAMPLE,
        "scripts/dev/tool.py": "import os\n",
        "tests/test_it.py": '"""Two lines."""\nTRUE = 1\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = run(ROOT / "scripts" / "dev" / "size", tmp_path)
    counted = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert counted == [
        ["8", "stats"],
        ["8", "product"],
        ["1", "scripts/dev"],
        ["2", "tests, all lines"],
    ]
