"""The folder of a run of somebody's own plan, with samples that a test makes up."""

import csv
import io

from support import run_folder
from support.jtl_rows import HEADER, START_MS, row
from tollgate.gather import evidence
from tollgate.record import manifest

#: JMeter's message for a transaction of two samples, all of which count as it says.
SUM_UP = '"Number of samples in transaction : 2, number of failing samples : {failed}"'
#: JMeter tells when it started; without that, every schedule's zero is a guess.
COLUMNS = HEADER + ",TESTSTART.MS"


def rows(label, n=100, failed=0, seconds=10, **fields):
    """n samples of a label, evenly over the time; the first ones failed."""
    return [
        row(number * seconds * 1000 // n, label=label, ok=number >= failed, **fields)
        + f",{START_MS}"
        for number in range(n)
    ]


def transactions(label, n=100, failed=0, **fields):
    """Rows of a Transaction Controller, as JMeter writes them with a parent sample and without."""
    return [
        line.replace("MESSAGE", SUM_UP.format(failed=int(number < failed)))
        for number, line in enumerate(rows(label, n, failed, message="MESSAGE", **fields))
    ]


def without(text, *columns):
    """The JTL as JMeter would write it without these columns."""
    lines = list(csv.reader(io.StringIO(text)))
    kept = [index for index, name in enumerate(lines[0]) if name not in columns]
    found = io.StringIO()
    csv.writer(found, lineterminator="\n").writerows([[it[at] for at in kept] for it in lines])
    return found.getvalue()


def make(folder, plan, lines, *criteria, lacking=(), header=COLUMNS, **changes):
    """Write the folder of a run of this plan that left these lines."""
    (folder / "plan").mkdir(parents=True, exist_ok=True)
    (folder / "plan" / "own.jmx").write_text(plan)
    times = {"warmup": 0.0, "measured": 10.0}
    times |= {"began": START_MS / 1000, "ended": START_MS / 1000 + 11}
    run_folder.make(folder, criteria, plan="plan/own.jmx", **(times | changes))
    text = without("".join(f"{line}\n" for line in (header, *lines)), *lacking)
    run_folder.spoil(folder, text.encode())


def gathered(folder):
    """The run's one execution, as judge is told of it."""
    return evidence.gather(folder, manifest.read(folder))[0].executions[0]


def verdict_on(folder, plan, lines, *criteria, **changes):
    """What `tollgate judge` would say; raises what it would refuse with."""
    make(folder, plan, lines, *criteria, **changes)
    return run_folder.verdict_of(folder)
