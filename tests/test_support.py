"""tests/support/README.md has each helper once, so that nobody writes a second one."""

import re

from support import ROOT

FOLDER = ROOT / "tests" / "support"


def test_the_page_names_each_helper_once():
    named = re.findall(r"`([\w-]+\.(?:py|mjs))`", (FOLDER / "README.md").read_text())
    assert sorted(named) == sorted(
        it.name for it in FOLDER.iterdir() if it.suffix in (".py", ".mjs")
    )
