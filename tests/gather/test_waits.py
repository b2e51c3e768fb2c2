"""What waited for an answer when a load was ended: a run's folder to its verdict."""

import pytest

from support import jmx_text as jmx
from support import own_run
from support.jtl_rows import START_MS, row
from support.run_folder import reasons
from tollgate.gather.waits import NO_ANSWER

ENDLESS = jmx.plan(jmx.group(jmx.sampler("home"), threads=2, duration=None))
PAIR = jmx.plan(
    jmx.group(jmx.sampler("home"), jmx.sampler("cart"), threads=2, duration=None),
)
ENDED_S = 10
ENDED = START_MS / 1000 + ENDED_S
FORCED = {"measured": 0.0, "stop_requested_at": ENDED, "ended_by_force": True}


def line(second, label="home", thread=1, elapsed=100, ok=True):
    name = f"visitors 1-{thread}"
    written = row(int(second * 1000), label=label, elapsed=elapsed, ok=ok, thread=name)
    return f"{written},{START_MS}"


def loop(until_s, threads=(1, 2), labels=("home",)):
    """Ten requests a second of each thread."""
    return [
        line(at / 10, labels[at % len(labels)], thread)
        for at in range(until_s * 10)
        for thread in threads
    ]


@pytest.fixture
def counts(tmp_path):
    """(samples by their labels, the execution) of a load of a plan that was ended by force."""

    def of(lines, plan=ENDLESS, **changes):
        own_run.make(tmp_path, plan, lines, "fail>90%", **FORCED | changes)
        execution = own_run.gathered(tmp_path)
        return {name: data.service for (name, _), data in execution.labels.items()}, execution

    return of


def test_requests_that_never_ended_hold_back_those_that_each_thread_would_have_sent(counts):
    found, execution = counts(loop(6))
    # Those under way, and ten a second of each thread until the load was ended.
    assert found["home"].errors == 2 + 2 * 39
    lost = found["home"].code_mask(NO_ANSWER)
    assert found["home"].n[lost].sum() == found["home"].errors
    assert found["home"].elapsed_ms[lost].max() == (ENDED_S - 6) * 1000
    assert found["home"].elapsed_ms[lost].min() == 100
    (told,) = [text for text in execution.facts.notes if "waited for an answer" in text]
    assert told.startswith("2 threads of the thread group 'visitors' waited for an answer from")
    assert "about 6 s until the load was ended after 10 s: 80 requests" in told


def test_threads_whose_time_was_over_would_have_sent_nothing(counts):
    plan = jmx.plan(jmx.group(jmx.sampler("home"), threads=2, duration=8))
    found, _ = counts(loop(6), plan)
    assert found["home"].errors == 2 + 2 * 19


def test_requests_that_jmeter_gave_up_are_samples_already(counts):
    broken = [line(6, thread=it, elapsed=34_500, ok=False) for it in (1, 2)]
    found, _ = counts([*loop(6), *broken])
    assert found["home"].errors == 2 + 2 * 39
    assert found["home"].n[found["home"].code_mask(NO_ANSWER)].sum() == 2 * 39


def test_a_thread_that_got_its_answer_is_charged_with_nothing(counts):
    found, execution = counts([*loop(9), line(9.9, thread=2, elapsed=900)])
    assert found["home"].errors == 1 + 9
    assert execution.facts.machine_problems == ()


@pytest.mark.parametrize("longest_ms", [4_000, 5_000])
def test_a_wait_that_was_no_longer_than_for_other_answers_proves_nothing(counts, longest_ms):
    found, _ = counts([line(0, elapsed=longest_ms), *loop(6)])
    assert found["home"].errors == 0


def test_what_was_held_back_has_the_labels_that_the_thread_had_sent(counts):
    found, execution = counts(loop(6, labels=("home", "cart")), PAIR)
    # Five a second of each; which of the two is under way nobody knows.
    assert {label: each.errors for label, each in found.items()} == {"home": 40, "cart": 40}
    (told,) = [text for text in execution.facts.notes if "waited for an answer" in text]
    assert told.endswith("those without a sample for each of cart, home")


def test_a_service_that_hangs_fails_though_its_failures_are_few(tmp_path):
    verdict = own_run.verdict_on(tmp_path, ENDLESS, loop(6), "fail>1%", **FORCED)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    assert "(service) nap-alone: fail = 40 % " in reasons(verdict)


# A killed JMeter writes nothing down; or the samples have no names of threads.
@pytest.mark.parametrize("changes", [{"exit_code": -9}, {"lacking": ("threadName",)}])
def test_silence_that_may_have_other_reasons_is_invalid(tmp_path, changes):
    hung, busy = (
        own_run.verdict_on(tmp_path / name, ENDLESS, loop(until_s), "fail>1%", **FORCED, **changes)
        for name, until_s in (("hung", 6), ("busy", 10))
    )
    assert hung.verdict == "INVALID"
    assert "no sample came in the last 4 s before STOP_AFTER ended the load" in reasons(hung)
    assert "no sample came" not in reasons(busy)


def test_a_thread_that_paused_when_the_load_ended_in_good_order_waited_for_nothing(counts):
    found, _ = counts(loop(6), ended_by_force=False)
    assert found["home"].errors == 0


def test_what_a_run_was_waiting_for_when_it_was_interrupted_counts(tmp_path):
    cut_short = {"measured": 0.0, "ended_by_force": True, "ended": ENDED}
    own_run.make(tmp_path, ENDLESS, loop(6), "fail>90%", **cut_short)
    record = own_run.manifest.read(tmp_path)
    record.interrupted, record.interrupted_at = True, ENDED
    own_run.manifest.write(record, tmp_path)
    execution = own_run.gathered(tmp_path)
    assert execution.labels["home", False].service.errors == 2 + 2 * 39
