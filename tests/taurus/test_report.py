"""What the service `report` leaves out when it is told to."""

from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from tollgate.report import dashboard
from tollgate.taurus.report import Report


@pytest.fixture
def report(tmp_path, monkeypatch):
    """Makes the service of a run with one execution; and what it has drawn."""
    (tmp_path / "kpi.jtl").write_text("timeStamp,elapsed\n")
    executor = SimpleNamespace(label="fork", kpi_jtl=str(tmp_path / "kpi.jtl"))
    provisioning = SimpleNamespace(executors=[executor])
    drawn = []
    monkeypatch.setattr(dashboard, "draw_all", lambda _, jtls, **__: drawn.extend(jtls) or {})

    def make(**settings):
        made = Report()
        made.settings = BetterDict.from_dict(settings)
        made.engine = SimpleNamespace(artifacts_dir=str(tmp_path), provisioning=provisioning)
        return made, drawn

    return make


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, ["fork"]), ({"dashboards": False}, []), ({"dashboards": True}, ["fork"])],
)
def test_dashboards_are_drawn_unless_they_are_not_wanted(report, settings, expected):
    made, drawn = report(**settings)
    made.prepare()
    made.post_process()
    assert drawn == expected


def test_anything_else_than_true_or_false_is_refused_before_the_run(report):
    made, _ = report(dashboards="no")
    with pytest.raises(TaurusConfigError, match="dashboards is 'no': write true"):
        made.prepare()
