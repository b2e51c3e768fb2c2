"""How far a study has come, and what is said of it."""

import pytest

from tollgate.base.paths import ROOT
from tollgate.base.text import duration_text
from tollgate.study.design import blocks, only, read_design, seconds_of
from tollgate.study.position import announce, last_block, length_text, position_text

HEADER = 'timeStamp,elapsed,label,failureMessage,Latency,"TESTSTART.MS","block","worker","server"\n'
PI = blocks(only(read_design(ROOT / "data" / "study.csv"), ("pi",)), 21)


def row(block, message=""):
    return f'1700000000000,5,pi,{message},5,"1700000000000","{block}","0",""\n'


@pytest.fixture
def jtl(tmp_path):
    def write(text):
        path = tmp_path / "kpi.jtl"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_the_last_whole_record_tells_the_block(jtl):
    assert last_block(jtl(HEADER + row(7) + row(8))) == 8


def test_half_a_record_tells_nothing(jtl):
    whole = HEADER + row(7)
    half = row(88)
    for length in range(len(half)):
        assert last_block(jtl(whole + half[:length])) == 7, length


@pytest.mark.parametrize("text", ["", HEADER[:20], HEADER, HEADER + row(7)[:-1]])
def test_without_a_whole_record_nobody_knows(jtl, text):
    assert last_block(jtl(text)) is None


def test_without_a_file_nobody_knows(tmp_path):
    assert last_block(tmp_path / "kpi.jtl") is None


def test_a_message_of_several_lines_is_no_record(jtl):
    assert last_block(jtl(HEADER + row(7) + row(8, '"expected:\n1,2,3\nfound: 9"'))) == 7


def test_samples_without_blocks_tell_nothing(jtl):
    assert last_block(jtl("timeStamp,label\n1,pi\n")) is None


def test_a_position_names_experiment_round_and_block():
    first, last = PI[0], PI[-1]
    assert first.round == 0
    told = position_text(PI, 1)
    assert told.startswith(f"pi, warm-up; block 1 of {len(PI)}, about ")
    assert position_text(PI, len(PI)) == (
        f"pi, round {last.round} of {last.cell.rounds}; block {len(PI)} of {len(PI)}, "
        "about 10 s left"
    )


def test_what_is_left_is_what_comes_after_the_block():
    left = length_text(seconds_of(PI[5:]))
    assert position_text(PI, 5).endswith(f"about {left} left")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "10 s"), (11, "20 s"), (50, "50 s"), (51, "1 min"), (60, "1 min"), (61, "2 min")],
)
def test_lengths_are_rounded_up(seconds, text):
    assert length_text(seconds) == text


def test_the_announcement_counts_the_blocks_and_names_the_seed():
    length = duration_text(seconds_of(PI))
    assert announce(PI, 21) == f"{len(PI)} blocks of pi, in random order (seed 21), about {length}"


def test_what_the_warm_up_measured_goes_into_what_is_announced_and_left():
    takes = {block.cell.key: 10.0 for block in PI}
    assert announce(PI[-3:], 21, takes).endswith("about 30 s")
    assert position_text(PI, len(PI) - 3, takes).endswith("about 30 s left")
