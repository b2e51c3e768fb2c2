"""JTLs of real runs that grow once more, in pieces that end anywhere."""

import csv
import random
from collections import defaultdict

from tollgate.gather.context import contexts
from tollgate.record import manifest
from tollgate.samples.growing import Growing


class GrowingRun:
    """A run's folder whose JTLs are written anew. record: its run.json. of: the context of each
    execution. samples: the reader of each."""

    def __init__(self, folder):
        self.folder, self.record = folder, manifest.read(folder)
        self.of = contexts(folder, self.record)
        self.whole = [(folder / it.planned.jtl).read_bytes() for it in self.of]
        for it in self.of:
            (folder / it.planned.jtl).unlink()
        self.samples = [Growing(folder / it.planned.jtl, keeps=False) for it in self.of]

    def grow(self, pieces, seed=1):
        """Write one piece after the other, of one execution behind the other; yields after each."""
        random_ = random.Random(seed)
        for of, whole, samples in zip(self.of, self.whole, self.samples, strict=True):
            cuts = sorted(random_.randrange(1, len(whole)) for _ in range(pieces - 1))
            for low, high in zip([0, *cuts], [*cuts, len(whole)], strict=True):
                with (self.folder / of.planned.jtl).open("ab") as jtl:
                    jtl.write(whole[low:high])
                if b"\n" in whole[:high]:
                    samples.advance()
                yield

    def rows(self, place):
        """The rows of an execution's JTL, as dicts."""
        return list(csv.DictReader(self.whole[place].decode().splitlines(keepends=True)))

    def times_s(self, place, *fields):
        """Sorted times of all rows by these fields of theirs, in seconds."""
        found = defaultdict(list)
        for row in self.rows(place):
            found[tuple(row[it] for it in fields)].append(int(row["elapsed"]) / 1000)
        return {key: sorted(values) for key, values in found.items()}
