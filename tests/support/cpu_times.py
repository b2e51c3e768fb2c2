"""Both sides of a comparison with the CPU time of each of their processes, of known costs."""

from dataclasses import dataclass, field

import numpy as np

from support.compared import remembering
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.model import Blocks, Requests, Side

VALUES = np.arange(400)


@dataclass
class Service:
    """CPU ms of a request by label, of a row of the middle size.

    sizes: the spread of the logarithm of its 40 rows' sizes. noise: of a request's own, likewise.
    idle_ms: of each process in a second. luck: of the processes' speeds, a standard deviation.
    collects: (how often in a second, CPU ms) of each process, whatever is asked. wait_ms: what an
    answer takes longer than its CPU time. edge: which share of a second's CPU time is read with the
    next one, at most. own: by how much each process is slower or faster for some seconds, a
    standard deviation.
    """

    costs: dict = field(default_factory=lambda: {"sum": 7.0, "search": 12.0})
    sizes: float = 0.125
    noise: float = 0.15
    idle_ms: float = 4.0
    luck: float = 0.0
    collects: tuple = (0.0, 0.0)
    wait_ms: float = 1.0
    edge: float = 0.0
    own: float = 0.0


def compared(
    rng,
    seconds=180,
    processes=4,
    rate=27.0,
    service=None,
    ratio=1.0,
    more_ms=None,
    waits_ms=None,
    to_head=0.5,
    ratios=None,
    idle_more=0.0,
):
    """(labels, cpu). rate: requests a second of each label, of both sides together. ratio: head's
    CPU time over base's. more_ms: by label, what a request of head takes more CPU time. waits_ms:
    by label, what it waits longer. to_head: the share of the requests of each label that head gets,
    or one by label. ratios: by process, base's first, in place of luck."""
    service = service or Service()
    more_ms, waits_ms = more_ms or {}, waits_ms or {}
    speeds = np.exp(service.luck * rng.standard_normal(2 * processes))
    if ratios is not None:
        # Base's first, base's second, head's first, head's second: in the order of the coin.
        speeds = np.array(ratios).reshape(2, processes).T.ravel()
    used = np.full((2 * processes, seconds), service.idle_ms)
    used[1::2] += idle_more
    often, much_ms = service.collects
    used += much_ms * rng.binomial(1, often, used.shape)
    labels = []
    for name, cost in service.costs.items():
        share = to_head[name] if isinstance(to_head, dict) else to_head
        block = np.sort(rng.integers(seconds, size=rng.poisson(rate * seconds)))
        row = rng.integers(40, size=len(block))
        size = np.exp(service.sizes * np.linspace(-2, 2, 40))[row]
        is_head = rng.random(len(block)) < share
        process = rng.integers(processes, size=len(block))
        spent = cost * size * np.exp(service.noise * rng.standard_normal(len(block)))
        spent *= np.where(is_head, ratio, 1.0)
        spent += np.where(is_head, more_ms.get(name, 0.0), 0.0)
        spent *= speeds[is_head + 2 * process]
        np.add.at(used, (is_head + 2 * process, block), spent)
        took = spent + service.wait_ms + np.where(is_head, waits_ms.get(name, 0.0), 0.0)
        elapsed = np.minimum(np.floor(took + rng.random(len(took))), VALUES[-1]).astype(int)
        sides = []
        for of in (~is_head, is_head):
            known = Requests(block[of], row[of], elapsed[of], process[of])
            sides.append(Side.of(known, VALUES, np.zeros(seconds, int)))
        labels.append(Blocks(name, VALUES, *sides))
    for each in used if service.own else ():
        each *= np.exp(service.own * remembering(rng, seconds, 0.6))
    late = service.edge * rng.random(used.shape) * used
    used += np.concatenate([np.zeros((len(used), 1)), late[:, :-1]], axis=1) - late
    return labels, CpuTimes(used)
