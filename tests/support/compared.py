"""Runs of `-compare` as a service would have made them, for tests: known truth, and no JMeter."""

import numpy as np
from scipy import signal

from tollgate.compare.decide import close, look, next_look_s
from tollgate.compare.model import Blocks, Gate, GateSettings, Side


def remembering(rng, seconds, memory):
    """Standard normal noise, one value a second, each of which remembers the one before."""
    fresh = rng.standard_normal(seconds + 100) * np.sqrt(1 - memory**2)
    return signal.lfilter([1], [1, -memory], fresh)[100:]


def compared(
    rng,
    seconds,
    rate=20.0,
    median_ms=40.0,
    ratio=1.0,
    sigma=0.4,
    common=0.15,
    memory=0.6,
    own=0.0,
    stalls=0.01,
    drift=0.0,
    failing=(0.0, 0.0),
    label="search",
):
    """A log-normal service at `rate` requests a second a side. ratio: head's times over base's.
    common: the noise that both sides share, of which each second remembers `memory`; own: the same,
    of each side. stalls: how often in a second a side stops for a tenth of a second. drift: how
    much slower both become in the course of the run. failing: shares, of base and head."""
    shared = common * remembering(rng, seconds, memory) + drift * np.linspace(-0.5, 0.5, seconds)
    sides = []
    for middle in (median_ms, median_ms * ratio):
        level = shared + own * remembering(rng, seconds, memory) if own else shared
        second = np.repeat(np.arange(seconds), rng.poisson(rate, seconds))
        took = middle * np.exp(level[second] + sigma * rng.standard_normal(len(second)))
        stall_ms = np.where(rng.random(seconds) < stalls, rng.exponential(100, seconds), 0)
        took += np.where(rng.random(len(second)) < 0.3, stall_ms[second], 0)
        # JMeter takes both ends of a request in whole milliseconds.
        sides.append((second, np.minimum(np.floor(took + rng.random(len(took))), 999).astype(int)))
    values = max(took.max() for _, took in sides) + 1
    shape, found = (seconds, values), []
    for (second, took), share in zip(sides, failing, strict=True):
        table = np.bincount(second * values + took, minlength=seconds * values).reshape(shape)
        failed = rng.binomial(table.sum(axis=1), share) if share else np.zeros(seconds, int)
        found.append(Side(table, failed))
    return Blocks(label, np.arange(values), *found)


def judged(labels, settings, every_s=30.0, **more):
    """The gate at the end of looking. more: fields of the gate."""
    gate = Gate(settings, **more)
    while (at_s := next_look_s(gate, every_s)) is not None:
        gate = look(gate, [blocks.first(int(at_s)) for blocks in labels], at_s)
    return close(gate)


def runs(rng, many, settings, **service):
    """So many gates, each of a run of its own with one label."""
    seconds = int(settings.budget_s)
    return [judged([compared(rng, seconds, **service)], settings) for _ in range(many)]


def finding(gate, metric, label="search"):
    return next(each for each in gate.findings if each.key == (label, metric))


def verdicts(gates, metric):
    return [finding(gate, metric).verdict for gate in gates]


#: Everything is decided, also after a failure.
SHORT = GateSettings(budget_s=240.0, fail_fast=False)
