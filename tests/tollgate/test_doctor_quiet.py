"""What the doctor's A/A says of machines whose noise is known."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import psutil
import pytest

import support
from tollgate.doctor import measure, quiet
from tollgate.doctor.finding import FAIL, OK, WARN, Finding
from tollgate.doctor.quiet import Samples

N, LENGTH_S = 1000, 10.0


def samples(spread: float, common: object = 1.0, late_ms: object = 0.0, seed: int = 1) -> Samples:
    """Log-normal response times of 2 ms. spread: standard deviation of the logarithm of each.
    common: a factor on both servers, one for each request."""
    rng = np.random.default_rng(seed)
    at_s = np.arange(N) / N * LENGTH_S
    took_ms = 2 * np.exp(spread * rng.standard_normal(N)) * np.broadcast_to(common, N)
    late = np.broadcast_to(np.asarray(late_ms, float), N)
    return Samples(at_s, rng.integers(0, 2, N), took_ms, late, LENGTH_S)


def noises(of: Samples) -> tuple[quiet.Noise, quiet.Noise]:
    halves = (of.at_s >= LENGTH_S / 2).astype(int)
    return quiet._noise(of, of.side), quiet._noise(of, halves)


def told(of: Samples) -> Finding:
    return quiet.judge(of)[0]


def test_independent_noise_of_a_known_size_takes_the_time_that_theory_says() -> None:
    # A median of n errs by 1.2533 s / sqrt(n): two of 500 differ by 0.0793 s. z is 2.326 + 1.645.
    spread = 0.3
    theory = LENGTH_S * (3.971 * 0.0793 * spread / np.log(1.05)) ** 2
    beside = [noises(samples(spread, seed=seed))[0].needed_s for seed in range(20)]
    assert theory == pytest.approx(np.median(beside), rel=0.25)


def test_the_more_noise_the_longer() -> None:
    needed = [noises(samples(spread))[0].needed_s for spread in (0.05, 0.2, 0.8)]
    assert needed == sorted(needed)
    assert [told(samples(spread)).status for spread in (0.2, 0.8, 3.0)] == [OK, WARN, FAIL]


def test_noise_that_hits_both_alike_harms_only_one_after_the_other() -> None:
    stretches = np.exp(0.3 * np.random.default_rng(2).standard_normal(20))
    beside, after = noises(samples(0.05, common=np.repeat(stretches, N // 20)))
    assert after.needed_s > 4 * beside.needed_s
    assert beside.needed_s < quiet.SOON_S


def test_a_machine_that_gets_slower_half_way_can_compare_side_by_side_alone() -> None:
    slower = samples(0.1, common=np.where(np.arange(N) < N // 2, 1.0, 1.3))
    beside, after = noises(slower)
    assert after.needed_s == np.inf
    assert after.change == pytest.approx(0.3, abs=0.03)
    assert beside.change == pytest.approx(0, abs=0.05)
    found = told(slower)
    assert found.status == OK
    assert "after no time, however long, one after the other" in found.found
    assert re.search(r"and \+(2[89]|3[012])\.\d% in this A/A", found.found)


def test_one_server_without_requests_gives_no_figures_and_fails() -> None:
    lonely = samples(0.1)
    lonely.side[:] = 0
    found = told(lonely)
    assert found.status == FAIL
    assert "no figures" in found.found


def test_stalls_are_counted_and_the_worst_is_told() -> None:
    late = np.zeros(N)
    late[:10] = 12.0
    few, many = samples(0.1, late_ms=late), samples(0.1, late_ms=np.where(np.arange(N) < 30, 55, 0))
    assert quiet.judge(few)[1] == Finding(
        OK, "stalls", "10 of 1000 requests sent over 10 ms late, the worst 12 ms"
    )
    assert quiet.judge(many)[1].status == WARN
    assert "30 of 1000" in quiet.judge(many)[1].found
    assert quiet.judge(many)[1].found.endswith("the worst 55 ms")


def test_time_that_the_host_took_is_told() -> None:
    assert quiet._stolen(0.001).status == OK
    assert quiet._stolen(0.05) == Finding(
        WARN,
        "steal",
        "5.0% of all CPU time went to other machines of the host",
        "compare side by side only, or use a machine of your own",
    )


def test_two_real_servers_are_asked_at_random_and_leave_nothing() -> None:
    found = measure.measure(length_s=2.0, warmup_s=0.2)
    assert len(found.at_s) == 200
    assert 60 < found.side.sum() < 140
    assert (found.took_ms > 0).all()
    assert 0 <= found.stolen < 1


def test_servers_that_cannot_start_are_an_error_of_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setattr(measure, "SERVER", tmp_path / "none.js")
    with pytest.raises(measure.CannotMeasure, match="did not answer") as caught:
        measure.measure()
    assert "\n" not in str(caught.value)


def test_servers_end_with_who_started_them_even_if_that_one_is_killed() -> None:
    code = "from tollgate.doctor import measure; measure.measure(length_s=60)"
    measuring = subprocess.Popen([sys.executable, "-c", code], env=support.environment())

    def is_server(process: psutil.Process) -> bool:
        try:
            return "server.js" in str(process.cmdline())
        except psutil.NoSuchProcess:  # it has ended, or nobody has asked how it did
            return False

    def servers() -> list:
        return [each for each in support.ours() if is_server(each)]

    support.wait_until(lambda: len(servers()) == 2, "both servers run")
    measuring.kill()
    measuring.wait()
    support.wait_until(lambda: not servers(), "both servers have ended")
