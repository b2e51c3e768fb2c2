"""What becomes of a verdict when the JTL is tampered with after the run.

With the seal of run.json every change is refused. Without it the schedule still tells what is
missing, up to the one request in a hundred that is tolerated.
"""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import run_folder
from run_folder import reasons
from tollgate.run import manifest

RECORDED = run_folder.recorded()
HEADER, *ROWS = RECORDED.splitlines(keepends=True)
#: More missing than are tolerated (one in a hundred of 300) and than JMeter sent on top (five).
TOO_MANY = 9
FEW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def failing(every):
    """The recorded rows, of which one in so many failed."""
    return [
        row.replace(b",true,", b",false,") if number % every == 0 else row
        for number, row in enumerate(ROWS)
    ]


CRITERIA = st.sampled_from([run_folder.HOLDS, run_folder.BROKEN])
CUTS = st.integers(0, len(RECORDED) - 1)
BYTES = st.tuples(st.integers(0, len(RECORDED) - 1), st.integers(0, 255))


def corrupted(at, value):
    return RECORDED[:at] + bytes([value]) + RECORDED[at + 1 :]


def shuffled(seed):
    rows = list(ROWS)
    random.Random(seed).shuffle(rows)
    return HEADER + b"".join(rows)


@FEW
@given(CRITERIA, CUTS.map(lambda cut: RECORDED[:cut]) | BYTES.map(lambda it: corrupted(*it)))
def test_a_sealed_jtl_that_lost_or_changed_a_byte_is_refused(judged, criteria, spoiled):
    if spoiled == RECORDED:
        return
    with pytest.raises(manifest.ManifestError, match="has changed since the run ended"):
        judged(*criteria, spoiled=spoiled, sealed=True)


def test_a_sealed_jtl_in_another_order_is_refused(judged):
    with pytest.raises(manifest.ManifestError, match="has changed since the run ended"):
        judged(spoiled=shuffled(1), sealed=True)


@FEW
@given(CRITERIA, st.integers())
def test_rows_in_an_order_that_jmeter_does_not_write_prove_nothing(judged, criteria, seed):
    assert judged(*criteria, spoiled=shuffled(seed)).verdict == "INVALID"


@pytest.mark.parametrize("criteria", [run_folder.HOLDS, run_folder.BROKEN])
def test_rows_in_the_order_of_their_starts_change_nothing_about_the_verdict(judged, criteria):
    sorted_rows = HEADER + b"".join(sorted(ROWS))
    assert judged(*criteria, spoiled=sorted_rows) == judged(*criteria)


@FEW
@given(CUTS)
def test_a_cut_off_jtl_never_passes_where_the_whole_one_does_not(judged, cut):
    assert judged(*run_folder.BROKEN, spoiled=RECORDED[:cut]).verdict in ("FAIL", "INVALID")


@FEW
@given(CUTS)
def test_a_cut_off_jtl_passes_only_if_hardly_a_row_is_missing(judged, cut):
    verdict = judged(spoiled=RECORDED[:cut])
    lost = len(ROWS) - RECORDED[:cut].count(b"\n") + 1
    assert verdict.verdict in ("PASS", "INVALID")
    if lost >= TOO_MANY or not RECORDED[:cut].endswith(b"\n"):
        assert verdict.verdict == "INVALID" or RECORDED[cut:] == b"\n"


@FEW
@given(st.sets(st.integers(0, len(ROWS) - 1), min_size=TOO_MANY, max_size=200))
def test_rows_taken_out_from_anywhere_are_missed(judged, taken):
    kept = [row for number, row in enumerate(ROWS) if number not in taken]
    verdict = judged(spoiled=HEADER + b"".join(kept))
    assert verdict.verdict == "INVALID"
    assert "scheduled requests of nap were not sent" in reasons(verdict)


def test_failures_that_were_taken_out_are_missed(judged):
    rows = failing(every=20)
    assert judged(spoiled=HEADER + b"".join(rows)).verdict == "FAIL"
    kept = [row for row in rows if b",false," not in row]
    assert judged(spoiled=HEADER + b"".join(kept)).verdict == "INVALID"


@FEW
@given(BYTES)
def test_a_corrupted_byte_never_makes_a_failed_run_pass(judged, change):
    verdict = judged(*run_folder.BROKEN, spoiled=corrupted(*change))
    assert verdict.verdict in ("FAIL", "INVALID", "INCONCLUSIVE")


@FEW
@given(st.integers(0, len(ROWS) - 1), st.integers(0, 255))
def test_a_failure_whose_label_was_corrupted_is_a_failure_still(judged, row, value):
    broken = ROWS[row].replace(b",true,", b",false,").replace(b",nap,", b",n%cp," % value)
    spoiled = HEADER + b"".join([*ROWS[:row], broken, *ROWS[row + 1 :]])
    in_window = 2000 <= int(ROWS[row][:13]) - int(ROWS[row].split(b",")[-1]) < 10000
    verdict = judged("p50 of nap>1s", "fail>0", spoiled=spoiled).verdict
    assert verdict in (("FAIL", "INVALID") if in_window else ("PASS", "FAIL", "INVALID"))
