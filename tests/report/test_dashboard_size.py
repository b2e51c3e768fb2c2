"""Up to how many samples a run draws JMeter's dashboard, and what JMeter gets to see of them."""

import pytest

from support.jtl_rows import usual
from tollgate.report import dashboard


@pytest.fixture
def drawn(monkeypatch):
    """Stands in for JMeter: names what is drawn, as (name, large)."""
    found = []

    class Drawing:
        def __init__(self, _run, name, _jtl, large=False, *_):
            self.name = name
            found.append((name, large))

        def finish(self):
            return ""

        def stop(self):
            pass

    monkeypatch.setattr(dashboard, "Drawing", Drawing)
    monkeypatch.setattr(dashboard, "MOST_SAMPLES", 1000)
    return found


@pytest.fixture
def jtls(tmp_path):
    """Two executions: one of as many samples as are drawn, one of one more."""
    files = {"fork": tmp_path / "kpi.jtl", "cluster": tmp_path / "kpi-1.jtl"}
    files["fork"].write_bytes(usual(1000, "no"))
    files["cluster"].write_bytes(usual(1001, "no"))
    return files


def test_a_larger_one_is_not_drawn_and_the_line_says_how_to(drawn, jtls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    problems = dashboard.draw_all(tmp_path, jtls)
    assert drawn == [("fork", False)]
    assert problems == {
        "cluster": "1,001 samples are more than the 1,000 that JMeter draws in a minute and a "
        f"gigabyte; `tollgate report {tmp_path.name} --dashboards` draws them all the same"
    }


def test_it_is_drawn_if_a_person_asks_for_it(drawn, jtls, tmp_path):
    assert dashboard.draw_all(tmp_path, jtls, however_large=True) == {}
    assert drawn == [("fork", False), ("cluster", True)]


def test_a_file_that_cannot_be_read_is_a_problem_of_its_own(drawn, jtls, tmp_path, monkeypatch):
    count = dashboard._count_samples

    def broken(jtl):
        if jtl == jtls["cluster"]:
            raise OSError(5, "Input/output error")
        return count(jtl)

    monkeypatch.setattr(dashboard, "_count_samples", broken)
    problems = dashboard.draw_all(tmp_path, jtls)
    assert drawn == [("fork", False)]
    assert problems == {"cluster": "[Errno 5] Input/output error"}
