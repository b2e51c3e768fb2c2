import json
import os
import signal
import threading
from types import SimpleNamespace

import pytest

from support import run_folder
from tollgate.base.processes import SIGNALS, defer_signals, end_by
from tollgate.gather import judged
from tollgate.taurus import verdict
from tollgate.taurus.jmeter import InstalledJMeter


class Interrupted(BaseException):
    pass


ROOMS = {"seal": verdict.manifest, "gather": judged.evidence, "judge": judged}
ROOMS["write_all"] = verdict.outputs


@pytest.fixture(autouse=True)
def handlers():
    """Signals that interrupt, as those of the command `bzt` do."""

    def interrupt(*_):
        raise Interrupted

    before = {number: signal.signal(number, interrupt) for number in SIGNALS}
    yield dict.fromkeys(SIGNALS, interrupt)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("step", ROOMS)
def test_a_signal_after_the_load_takes_no_verdict_away(
    tmp_path, monkeypatch, handlers, number, step
):
    made = run_folder.make(tmp_path)
    room, does = ROOMS[step], getattr(ROOMS[step], step)

    def signalled(*arguments):
        os.kill(os.getpid(), number)
        return does(*arguments)

    monkeypatch.setattr(room, step, signalled)
    (planned,) = made.executions
    executor = InstalledJMeter()
    executor.start_time, executor.process = planned.began, SimpleNamespace(poll=lambda: 0)
    executor.threads_ended = lambda: None
    reporter = verdict.Verdict()
    reporter.manifest = made
    reporter.ended = {executor: planned.ended}
    reporter.engine = SimpleNamespace(
        artifacts_dir=str(tmp_path),
        provisioning=SimpleNamespace(executors=[executor]),
        stopping_reason=None,
        reporters=[],
        services=[],
    )
    reporter.post_process()
    assert json.loads((tmp_path / "verdict.json").read_text())["verdict"] == "PASS"
    assert {number: signal.getsignal(number) for number in SIGNALS} == handlers


def test_the_handlers_are_back_also_after_an_error(handlers):
    with pytest.raises(Interrupted), defer_signals():
        raise Interrupted
    assert {number: signal.getsignal(number) for number in SIGNALS} == handlers


def test_a_thread_that_no_signal_reaches_just_goes_on():
    done = []

    def work():
        with defer_signals():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_a_hang_up_that_is_ignored_already_stays_ignored_and_no_other_signal():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    end_by(lambda: None)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    assert [number for number in SIGNALS if callable(handlers[number])] == list(SIGNALS[:2])
    assert handlers[signal.SIGHUP] == signal.SIG_IGN
    with defer_signals():
        pass
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_ends_what_it_reaches_and_no_later_one_does(number):
    ended = []
    end_by(lambda: ended.append(True))
    for each in (number, *SIGNALS):
        os.kill(os.getpid(), each)
    assert ended == [True]
