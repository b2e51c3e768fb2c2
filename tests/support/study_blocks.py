"""Designs of the study for tests, and the blocks that its plan has without a run around it."""

import pytest

from support import ROOT
from tollgate.study.design import (
    DesignError,
    only,
    read_design,
    rounds,
    shorten,
    warm_up,
    write_blocks,
)
from tollgate.study.model import CROSSCHECK, Cell

#: What the plan reads in JMeter's window.
COMMITTED = ROOT / "data" / "study-blocks.csv"
SEED = 21
HEADER = "experiment,arm,app,users,published,rounds,seconds,lead_s,each,path,answer"
CELL = Cell("sum", "fork", "fork", 5, 0, 8, 1, 0.25, 0, "/sum/9", "45")


def blocks(cells, seed):
    """The blocks of a run in their order, each as long as the design has it."""
    first = warm_up(cells, seed)
    return (*first, *rounds(cells, seed, len(first)))


def smoke():
    """The short design without the other load generator, which only a run of the study knows."""
    cells = design()
    return blocks(shorten(only(cells, {cell.experiment for cell in cells} - {CROSSCHECK})), SEED)


def write_smoke(path, ports):
    """The blocks of the smoke in a file; returns its path."""
    write_blocks(path, smoke(), ports)
    return path


def design():
    """The cells of the design that comes with the suite."""
    return read_design(ROOT / "data" / "study.csv")


def errors_of(path, read=read_design):
    """What reading the file is refused for, each line without the file's name."""
    with pytest.raises(DesignError) as caught:
        read(path)
    return [line.removeprefix(str(path)) for line in caught.value.errors]
