"""A run of somebody's own plan that STOP_AFTER ended: its folder to its verdict."""

import pytest

from support import run_folder
from support.run_folder import reasons

#: JMeter's own start in the recorded run, in epoch milliseconds, and when it was told to end.
START_MS = 1795223301128
TOLD_MS = START_MS + 6000
UNTIL_THE_END = {"measured": 0.0}
TOLD = UNTIL_THE_END | {"stop_requested_at": TOLD_MS / 1000}


def sent_until(moment_ms, but_not=lambda _: False):
    """The recorded JTL with what started before the moment, but for some."""
    header, *rows = run_folder.recorded().splitlines(keepends=True)
    before = [row for row in rows if int(row.split(b",")[0]) < moment_ms]
    return b"".join([header, *(row for i, row in enumerate(before) if not but_not(i))])


@pytest.mark.parametrize("answering_ms", [0, 5])
def test_a_schedule_ends_when_stop_after_ends_the_load(judged, answering_ms):
    # What was on its way in the moment of the end is sent all the same.
    verdict = judged("fail of nap>0%", spoiled=sent_until(TOLD_MS + answering_ms), **TOLD)
    assert (verdict.verdict, verdict.exit_code, verdict.reasons) == ("PASS", 0, ())
    assert "the load was ended after 6 s" in verdict.executions[0].warnings


def test_what_was_not_sent_before_stop_after_is_missing_as_ever(judged):
    lost = sent_until(TOLD_MS, but_not=lambda number: number % 10 == 5)
    verdict = judged(spoiled=lost, **TOLD)
    assert verdict.verdict == "INVALID"
    assert "scheduled requests of nap were not sent" in reasons(verdict)
    assert "of 300 scheduled" not in reasons(verdict)
    never_ended = judged(spoiled=sent_until(TOLD_MS), **UNTIL_THE_END)
    assert never_ended.verdict == "INVALID"
    assert "of 300 scheduled requests of nap were not sent" in reasons(never_ended)


def test_stop_after_behind_the_end_of_the_schedule_changes_nothing(judged):
    late = UNTIL_THE_END | {"stop_requested_at": START_MS / 1000 + 25}
    assert judged(**late).verdict == "PASS"
    short = judged(spoiled=sent_until(TOLD_MS), **late)
    assert "of 300 scheduled requests of nap were not sent" in reasons(short)


def test_how_a_jmeter_that_went_on_was_ended_is_no_fault_of_its_own(judged):
    cut = sent_until(TOLD_MS)[:-9]
    by_force = TOLD | {"exit_code": 1, "ended_by_force": True}
    # What the cut line told is one request of which nobody knows how it went.
    assert judged("fail of nap>2%", spoiled=cut, **by_force).verdict == "PASS"
    assert judged("fail of nap>0%", spoiled=cut, **by_force).verdict == "INCONCLUSIVE"
    crashed = judged("fail of nap>0%", spoiled=cut, **TOLD | {"exit_code": 1})
    assert "JMeter exited with code 1" in reasons(crashed)
