"""kpi.jtl of a study as JMeter 5.6.3 under Taurus writes it, with every request known."""

import json
from dataclasses import dataclass

import numpy as np

from support.jtl_rows import HEADER, START_MS, lines
from support.study_cells import cell
from tollgate.study.model import Block
from tollgate.study.windows import ANOTHER_GENERATOR

#: JMeter puts the names of sample variables in quotes, and no others.
STUDY_HEADER = HEADER + ',"TESTSTART.MS","block","worker","server"'


@dataclass(frozen=True)
class Sent:
    """One request; `block` as JMeter writes the variable."""

    block: str
    start_ms: int
    elapsed_ms: int
    user: int = 1
    ok: bool = True
    worker: str = "0"
    server: str = ""
    label: str = "sum"

    @property
    def fields(self):
        code = "200" if self.ok else "500"
        words = (self.label, code, "OK", f"Users 1-{self.user}", str(self.ok).lower())
        rest = (120, 2, 3, self.elapsed_ms, "h", 1, START_MS - 500)
        return self.start_ms, self.elapsed_ms, *words, *rest, self.block, self.worker, self.server


CELLS = (
    cell("fork", users=1),
    cell("cluster", users=3),
    cell("three servers", experiment="pi", app="balancer", users=2, each=4, seconds=30, lead_s=0.0),
)


def design(cells=CELLS, rounds=3):
    """Rounds 0, the warm-up, to `rounds` of all the cells, in their order or backwards by turns."""
    turns = [(turn, it) for turn in range(rounds + 1) for it in cells[:: (-1) ** turn]]
    return tuple(Block(number, turn, it) for number, (turn, it) in enumerate(turns, 1))


def load(blocks, seed=1, mean_ms=40):
    """Every block one after the other, each user as soon as it has its answer."""
    rng = np.random.default_rng(seed)
    at, found = START_MS, []
    for block in blocks:
        it, number, ends = block.cell, str(block.number), []
        for user in range(1, it.users + 1):
            now, sent = at + int(rng.integers(0, 5)), 0
            while now < at + 1000 * it.seconds + 5 and (not it.each or sent < it.each):
                elapsed = int(rng.exponential(mean_ms * (8 if it.each else 1)))
                who = (str(rng.integers(0, 2)), "")
                if it.app == "balancer":
                    who = ("0", f"pi-{rng.integers(1, 4)}")
                ok = bool(rng.random() > 0.03)
                found.append(Sent(number, now, elapsed, user, ok, *who, it.experiment))
                now += elapsed
                sent += 1
            ends.append(now)
        at = max(ends) + int(rng.integers(5, 40))
    return found


def by_another(block, start_ms, seconds):
    """The one sample of a block in which another load generator sent the requests."""
    by = {"worker": "null", "server": "null", "label": ANOTHER_GENERATOR}
    return Sent(str(block.number), start_ms, int(1000 * seconds), **by)


def write(run, sent, seed=2, header=STUDY_HEADER):
    """kpi.jtl with these requests in any order, as threads write them."""
    sent = list(sent)
    order = np.random.default_rng(seed).permutation(len(sent))
    path = run / "kpi.jtl"
    path.write_bytes(lines((sent[place].fields for place in order), header=header))
    return path


def write_cpu(path, rows):
    """cpu.jsonl with rows of time, generator, service and idle."""
    names = ("time", "generator", "service", "idle")
    text = (json.dumps({**dict(zip(names, row, strict=True)), "cores": 2}) + "\n" for row in rows)
    path.write_text("".join(text))
