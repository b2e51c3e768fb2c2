"""What the commands import before they do anything."""

import sys

import support


def test_a_start_waits_for_no_import_that_it_does_without():
    """`scipy.stats` alone takes as long as most of the rest, at each start."""
    code = "import sys, tollgate.commands.bzt, tollgate.commands.cli; print(*sys.modules)"
    done = support.run(sys.executable, "-c", code)
    assert "bzt.engine" in done.stdout.split()
    assert not {"scipy.stats", "scipy.signal", "pandas", "matplotlib"} & {*done.stdout.split()}
