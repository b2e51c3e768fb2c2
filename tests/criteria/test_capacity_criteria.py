import pytest

from tollgate.criteria.check import check
from tollgate.criteria.grammar import CriterionError, parse


def test_a_capacity_is_in_arrivals_a_second():
    found = parse("capacity of fork<120/s")
    assert (found.label, found.threshold, found.unit) == ("fork", 120.0, "/s")
    assert found.is_of_capacity
    assert not found.is_of_workers
    assert not found.can_stop_early
    assert found.text == "capacity of fork<120/s"


@pytest.mark.parametrize(("text", "rate"), [("90/min", 1.5), ("0.5/s", 0.5), ("7200/h", 2.0)])
def test_a_rate_has_any_unit_of_time(text, rate):
    assert parse(f"capacity of fork<{text}").threshold == pytest.approx(rate)


REFUSED = {
    **dict.fromkeys(("<120", "<120ms", "<5%", "<0/s"), "threshold"),
    **{"=120/s": "condition", "<120/s for 10s": "timeframe"},
}
TEXTS = [("capacity<120/s", "label"), *((f"capacity of fork{it}", REFUSED[it]) for it in REFUSED)]


@pytest.mark.parametrize(("text", "field"), TEXTS)
def test_what_means_nothing_is_refused_by_its_field(text, field):
    with pytest.raises(CriterionError) as refused:
        parse(text)
    assert f"{field} " in str(refused.value)


def test_its_label_is_none_of_the_plans_and_a_second_one_alike_is_seen():
    criterion = parse("capacity of fork<120/s")
    assert check([criterion], ["sum"]) == []
    assert len(check([criterion, criterion], ["sum"])) == 1
