import pytest

from support.study_blocks import blocks
from tollgate.base.paths import SUITE
from tollgate.base.text import duration_text
from tollgate.study.design import only, read_design, seconds_of
from tollgate.study.position import announce, last_block, position_text

HEADER = 'timeStamp,elapsed,label,failureMessage,Latency,"TESTSTART.MS","block","worker","server"\n'
PI = blocks(only(read_design(SUITE / "data" / "study.csv"), ("pi",)), 21)


def row(block, message=""):
    return f'1700000000000,5,pi,{message},5,"1700000000000","{block}","0",""\n'


@pytest.fixture
def jtl(tmp_path):
    def write(text):
        path = tmp_path / "kpi.jtl"
        path.write_text(text)
        return path

    return write


def test_the_last_whole_record_tells_the_block(jtl):
    assert last_block(jtl(HEADER + row(7) + row(8))) == 8
    # A message of several lines is no record.
    assert last_block(jtl(HEADER + row(7) + row(8, '"expected:\n1,2,3\nfound: 9"'))) == 7


def test_half_a_record_and_no_file_tell_nothing(jtl, tmp_path):
    assert last_block(tmp_path / "kpi.jtl") is None
    half = row(88)
    for length in range(len(half)):
        assert last_block(jtl(HEADER + row(7) + half[:length])) == 7, length


@pytest.mark.parametrize(
    "text", ["", HEADER[:20], HEADER, HEADER + row(7)[:-1], "timeStamp,label\n1,pi\n"]
)
def test_without_a_whole_record_of_a_block_nobody_knows(jtl, text):
    assert last_block(jtl(text)) is None


def test_a_position_names_experiment_round_and_block_and_what_comes_after():
    last, many = PI[-1], len(PI)
    assert PI[0].round == 0
    assert position_text(PI, 1).startswith(f"pi, warm-up; block 1 of {many}, about ")
    assert position_text(PI, many) == (
        f"pi, round {last.round} of {last.cell.rounds}; block {many} of {many}, about "
        f"{duration_text(seconds_of(PI[-1:]))} left"
    )
    assert position_text(PI, 5).endswith(f"about {duration_text(seconds_of(PI[4:]))} left")


def test_the_announcement_counts_the_blocks_and_uses_what_the_warm_up_measured():
    length = duration_text(seconds_of(PI))
    assert announce(PI, 21) == f"{len(PI)} blocks of pi, in random order (seed 21), about {length}"
    takes = {block.cell.key: 10.0 for block in PI}
    assert announce(PI[-3:], 21, takes).endswith("about 30 s")
    assert position_text(PI, len(PI) - 3, takes).endswith("about 40 s left")
