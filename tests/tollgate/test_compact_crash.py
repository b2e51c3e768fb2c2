"""Killed at whatever moment, a process that compacts loses nothing and doubles nothing."""

import os
import signal

import pytest

from jtl_text import compacting, in_pieces, readings, text_of, usual
from tollgate.jtl_pieces import read_index

SIZE = 20_000


#: Has the process killed before its nth step that others can see; a step is a file that is put in
#: its place, something that is forced to the disk, or a hole.
KILLED = """
import os, pathlib, signal
left = {nth}
def counted(call):
    def step(*given):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given)
    return step
os.fsync = counted(os.fsync)
pathlib.Path.replace = counted(pathlib.Path.replace)
compact.punch = counted(compact.punch)
compact.write_piece = counted(compact.write_piece)
"""


@pytest.mark.parametrize("nth", range(1, 17))
def test_killed_before_any_step_every_sample_is_read_exactly_once(written, nth):
    path = written(usual(1200))
    content, expected = path.read_bytes(), readings(path)
    words = ("--until", len(content), "--piece-bytes", SIZE)
    done = compacting(path, *words, code=KILLED.format(nth=nth))
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert readings(path) == expected
    assert text_of(path) == content
    assert compacting(path, *words).returncode == 0
    assert len(read_index(path).pieces) == len(content) // SIZE
    assert readings(path) == expected
    assert text_of(path) == content


@pytest.mark.parametrize("nth", range(1, 7))
def test_killed_while_it_shortens_the_file_every_sample_is_read_exactly_once(written, nth):
    path = written(usual(1200))
    content, expected = path.read_bytes(), readings(path)
    in_pieces(path, SIZE, finished=False)
    words = ("--final", "--piece-bytes", SIZE)
    done = compacting(path, *words, code=KILLED.format(nth=nth))
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert readings(path) == expected
    assert text_of(path) == content


def test_the_process_makes_room_for_others(written):
    path = written(usual(300))
    code = "import atexit, os; atexit.register(lambda: print(os.nice(0)))"
    words = ("--until", path.stat().st_size, "--piece-bytes", SIZE)
    assert compacting(path, *words, code=code).stdout == "19\n"
    assert os.nice(0) == 0
