"""One file of several engines' samples, told apart by the names of their threads."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.split import copy_until, split

HEAD = "timeStamp,elapsed,label,threadName,responseCode,success\n"
HOSTS = ("10.0.0.1:1099", "load-one-2:1099")


@pytest.fixture
def parted(tmp_path):
    def part(text):
        source = tmp_path / "kpi.jtl"
        source.write_text(text)
        targets = {host: tmp_path / f"{n}.jtl" for n, host in enumerate(HOSTS)}
        foreign = split(source, targets)
        return foreign, [path.read_text() for path in targets.values()]

    return part


def test_each_sample_goes_to_its_engine_with_the_thread_name_that_it_has_there(parted):
    foreign, (first, second) = parted(
        f"{HEAD}1,2,a,10.0.0.1:1099-users-1 1-1,200,true\n"
        '2,3,"b, ""c""\nd",load-one-2:1099-my-users 1-12,200,true\n'
        "3,4,a,10.0.0.1:1099-users-1 1-2,200,true\n"
    )
    assert foreign == 0
    assert first == f"{HEAD}1,2,a,users-1 1-1,200,true\n3,4,a,users-1 1-2,200,true\n"
    assert second == f'{HEAD}2,3,"b, ""c""\nd",my-users 1-12,200,true\n'


def test_samples_of_nobody_are_counted(parted):
    nobodys = "1,2,a,users 1-1,200,true\n2,3,b,10.0.0.9:1099-users 1-1,200,true\n"
    assert parted(HEAD + nobodys) == (2, [HEAD, HEAD])


def test_without_the_names_of_threads_every_sample_is_of_nobody(parted):
    head = HEAD.replace("threadName,", "")
    assert parted(f"{head}1,2,a,200,true\n2,3,b,200,true\n") == (2, [head, head])


def test_half_a_row_is_kept_for_who_reads_it(parted):
    foreign, (first, second) = parted(f"{HEAD}1,2,a,load-one-2:1099-x 1-1,200,true\n1,2")
    assert (foreign, first, second) == (0, f"{HEAD}1,2\n", f"{HEAD}1,2,a,x 1-1,200,true\n")


@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.integers(0, 99), st.text(st.characters(codec="utf-8"))),
        max_size=9,
    ),
    st.integers(0, 200),
)
def test_a_copy_has_the_samples_that_had_ended_whatever_their_labels(tmp_path_factory, rows, until):
    def written(name, rows):
        path = tmp_path_factory.mktemp("jtl") / name
        with path.open("w", newline="") as file:
            file.write(HEAD.replace("success", chr(34) + "success" + chr(34)))
            # Python 3.11 would leave a carriage return without quotes, which JMeter does not.
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            writer.writerows([*it, "1-1", 200, "true"] for it in rows)
        return path

    source = written("kpi.jtl", rows)
    copy_until(source, source.with_name("copy.jtl"), until)
    wanted = written("wanted.jtl", [it for it in rows if it[0] + it[1] <= until])
    assert source.with_name("copy.jtl").read_bytes() == wanted.read_bytes()


def test_a_message_as_long_as_an_answer_is_read_wherever_rows_are(parted, tmp_path):
    csv.field_size_limit(131_072)  # Python's own
    long, head = "x" * 300_000, HEAD.replace("success", "success,failureMessage,TESTSTART.MS")
    row = f"1,2,a,10.0.0.1:1099-x 1-1,200,true,{long},1767225600000\n"
    foreign, (first, _) = parted(head + row)
    assert (foreign, first) == (0, head + row.replace("10.0.0.1:1099-", ""))
    source = tmp_path / "kpi.jtl"
    assert peek_test_start(source) == 1_767_225_600_000
    copy_until(source, tmp_path / "copy.jtl", 10)
    assert (tmp_path / "copy.jtl").read_text() == source.read_text()


def test_a_row_longer_than_any_is_refused_in_a_line(parted, tmp_path):
    csv.field_size_limit(131_072)
    head = HEAD.replace("success", "success,TESTSTART.MS")
    text = f"{head}1,2,{'x' * 2_100_000},10.0.0.1:1099-x 1-1,200,true,1767225600000\n"
    with pytest.raises(JtlError, match=r"kpi\.jtl: a row is none of CSV"):
        parted(text)
    assert peek_test_start(tmp_path / "kpi.jtl") is None
