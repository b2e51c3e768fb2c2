"""The file of PM2's apps has many names: messages give the one that the suite has."""

import ast
from pathlib import Path

import tollgate

SOURCE = Path(tollgate.__file__).parent
#: What a suite that has no such file yet gets, and the schema of all suites.
OF_NO_SUITE = ("cli/init/", "taurus/run_file.py")


def texts(path):
    """Those of a file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_no_message_names_a_file_that_the_suite_may_not_have():
    named = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any("ecosystem.config" in text for text in texts(path))
    }
    assert [it for it in sorted(named) if not it.startswith(OF_NO_SUITE)] == []
