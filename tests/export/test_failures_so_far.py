"""How many of a label's requests have failed so far, which is 0 at first."""

from support.jtl_rows import jtl, row
from tollgate.export.metrics import metrics_of
from tollgate.export.totals import Totals
from tollgate.plan.model import Plan
from tollgate.samples.growing import Growing


def counts(totals):
    """The requests of each label and result."""
    requests, *_ = metrics_of("run", [totals], {})
    assert requests.name == "tollgate.requests"
    named = [(its["tollgate.label"], its["tollgate.result"]) for its, _ in requests.points]
    assert len(named) == len(set(named))
    return dict(zip(named, (count for _, count in requests.points), strict=True))


def test_a_label_has_failed_no_times_before_it_has(tmp_path):
    path, totals = tmp_path / "kpi.jtl", Totals("fork", Plan(path=tmp_path, groups=()))
    growing, rows = Growing(path), [row(label="list"), row(1, label="list")]
    growing.listen(totals.take)
    path.write_text(jtl(*rows))
    growing.advance()
    before = {("list", "ok"): 2, ("list", "failed"): 0}
    assert counts(totals) == before
    rows += [row(2, label="list", ok=False), row(3, label="read", ok=False)]
    path.write_text(jtl(*rows))
    growing.advance()
    assert counts(totals) == before | {("list", "failed"): 1, ("read", "failed"): 1}
