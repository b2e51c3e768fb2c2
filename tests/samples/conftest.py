"""A JTL of some rows, whose elapsed are their numbers."""

import pytest

from support.jtl_rows import fields, lines


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "kpi.jtl"
    file.write_bytes(lines(fields(number, elapsed=number) for number in range(50)))
    return file
