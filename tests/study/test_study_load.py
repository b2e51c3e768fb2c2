import numpy as np
import pytest

from support.study_jtl import write_cpu
from tollgate.study.cpu import SILENCE_S, CpuError, mean_cores


@pytest.fixture
def cores(tmp_path):
    """Mean cores in windows of a record of rows."""

    def told(rows, *windows):
        write_cpu(tmp_path / "cpu.jsonl", rows)
        low, high = np.array(windows, float).T
        return mean_cores(tmp_path / "cpu.jsonl", low, high).T.tolist()

    return told


def steady(count, step=0.2):
    return [(10 + k * step, 5 + 0.1 * k, 7 + 0.2 * k, 9 + 0.04 * k) for k in range(count)]


def test_counters_are_interpolated_at_the_ends_of_a_window(cores):
    rows = [(0, 0, 0, 0), (1, 1.0, 0.5, 0.0), (2, 1.0, 2.5, 0.2)]
    # From 0.5, 0.25, 0 to 1.0, 1.5, 0.1.
    assert cores(rows, (0.5, 1.5)) == [pytest.approx([0.5, 1.25, 0.1])]
    assert cores(steady(6), (10, 11)) == [pytest.approx([0.5, 1.0, 0.2])]


def test_windows_that_the_record_does_not_cover_are_not_known_nor_those_that_end_in_a_silence(
    cores,
):
    found = cores(steady(6), (9.9, 10.5), (10.5, 11.01), (10.2, 10.8), (10.5, 10.5))
    assert [np.isnan(row).all() for row in found] == [True, True, False, True]
    rows = [*steady(6), *((it[0] + SILENCE_S + 0.1, *it[1:]) for it in steady(12)[6:])]
    found = cores(rows, (10.1, 10.9), (10.5, 11.5), (12.5, 13.1))
    assert [np.isnan(row).all() for row in found] == [False, True, False]


@pytest.mark.parametrize("rows", [[], steady(1)])
def test_a_record_that_has_hardly_begun_tells_nothing(cores, rows):
    assert np.isnan(cores(rows, (10, 10.5))).all()


def test_without_a_record_nothing_is_known(tmp_path):
    found = mean_cores(tmp_path / "cpu.jsonl", np.array([1.0]), np.array([2.0]))
    assert found.shape == (3, 1)
    assert np.isnan(found).all()


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "cpu.jsonl"
    write_cpu(path, steady(6))
    with path.open("a") as file:
        file.write('{"time": 11.2, "gener')
    assert mean_cores(path, np.array([10.0]), np.array([11.0]))[1, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"time": 11.2, "generator": "x", "service": 1, "idle": 1}', "NaN"]
)
def test_a_line_that_is_none_of_the_recorders_is_refused_by_its_number(tmp_path, line):
    path = tmp_path / "cpu.jsonl"
    write_cpu(path, steady(6))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(CpuError, match=r"cpu\.jsonl:7: is no line of the recorder's: "):
        mean_cores(path, np.array([10.0]), np.array([11.0]))


def test_a_clock_that_was_set_back_is_refused(cores):
    rows = steady(6)
    with pytest.raises(CpuError, match=r"cpu\.jsonl:7: the clock was set back"):
        cores([*rows, rows[2]], (10, 11))
