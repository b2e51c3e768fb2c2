"""The pages of tests/support and tests/e2e have each file once: what a helper is for, so that none
is written twice, and what a real run proves."""

import re

import pytest

from support import ROOT

TESTS = ROOT / "tests"


@pytest.mark.parametrize(("folder", "prefix"), [("support", ""), ("e2e", "test_")])
def test_a_page_names_each_file_once(folder, prefix):
    page = (TESTS / folder / "README.md").read_text()
    files = [it.name for it in (TESTS / folder).glob(f"{prefix}*") if it.suffix in (".py", ".mjs")]
    assert sorted(re.findall(r"`([\w-]+\.(?:py|mjs))`", page)) == sorted(files)
