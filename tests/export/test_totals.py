"""What there is to export of samples that come in pieces: what the verdict finds in all of them."""

import pytest

from support.archived import unpacked
from support.growing_jtl import GrowingRun
from tollgate.export.totals import Totals
from tollgate.samples.counts import read_jtl
from tollgate.samples.store import open_store
from tollgate.schedule.growing_samples import OTHERS
from tollgate.schedule.replay import replay_jtl
from tollgate.stats.exponential import Exponential

#: Two executions by timers, a comparison by even arrivals, a forecast by an open model, a plan of
#: somebody's own.
RUNS = ("check-pass", "compare-pass", "load", "plan")


def counted(run, pieces=12):
    """The totals of each execution, once its JTL has grown to its end."""
    found = [Totals(it.planned.name, it.plan) for it in run.of]
    for samples, totals in zip(run.samples, found, strict=True):
        samples.listen(totals.take)
    for _ in run.grow(pieces):
        pass
    for totals in found:
        totals.end(ran_out=True)
    return found


def replayed(of):
    """What the verdict makes of the same samples."""
    with open_store(of.run / of.planned.jtl) as store:
        jtl = read_jtl(store)
        return replay_jtl(of.plan, store, jtl, 0.0, None, of.bins)


def histogram(counts):
    found = Exponential()
    found.add(counts.elapsed_ms / 1000, counts.n)
    return found


def same(one, other):
    return (one.scale, one.zeros, one.dense()) == (other.scale, other.zeros, other.dense())


def merged(totals, label, name):
    """A histogram of all series of a label, those of both sides and of failures as well."""
    found = Exponential()
    for series in totals.series:
        if series.key.label == label and not series.key.is_transaction:
            each = getattr(series, name)
            if each.total:
                found.add([0.0] * each.zeros)
                found.add(each.bounds, each.n)
    return found.total


@pytest.mark.parametrize("name", RUNS)
def test_each_row_is_counted_once_and_joined_with_the_arrival_that_the_verdict_gives_it(
    tmp_path, name
):
    run = GrowingRun(unpacked(name, tmp_path))
    for place, totals in enumerate(counted(run)):
        rows = run.times_s(place, "label", "success")
        assert totals.rows == sum(map(len, rows.values()))
        meant = replayed(run.of[place])
        for label, counts in meant.response.items():
            assert merged(totals, label, "response") == counts.total
            assert merged(totals, label, "lateness") == meant.lateness[label].total
            of_label = [it for it in totals.series if it.key.label == label]
            if len(of_label) == 1:
                assert same(of_label[0].response, histogram(counts))
                assert same(of_label[0].lateness, histogram(meant.lateness[label]))
        assert sum(it.sent for it in totals.joins) == sum(it.sent for it in meant.facts)
        due = [it.due(totals.due_ms) for it in totals.joins]
        assert sum(due) == sum(it.intended for it in meant.facts)
        closed = {it.key.label for it in totals.series} - meant.response.keys()
        assert all(it.response.total == 0 for it in totals.series if it.key.label in closed)


def test_a_label_too_many_is_counted_among_others(tmp_path, monkeypatch):
    monkeypatch.setattr(Totals, "most_series", 2)
    run = GrowingRun(unpacked("check-pass", tmp_path))
    for place, totals in enumerate(counted(run)):
        assert totals.rows == len(run.rows(place))
        assert sum(it.service.total for it in totals.series) == totals.rows
        assert OTHERS in {it.key.label for it in totals.series}
        assert len(totals.series) <= 2 + 4  # with each kind and result of others
