"""The folder of a small run: ten seconds that JMeter sent by a schedule, recorded in golden/."""

import json
import shutil
from contextlib import contextmanager

from support.golden import FOLDER
from tollgate.gather import evidence
from tollgate.judge.judgement import judge
from tollgate.record import manifest

#: 300 requests of the label `nap`, 20 to 51 ms each, by a Precise Throughput Timer.
NAME = "timer-run"
JTL = "kpi.jtl"
HOLDS = ("p50 of nap>1s", "fail of nap>0%")
BROKEN = ("p50 of nap>10ms", "fail of nap>0%")
STARTED = "2026-11-20T23:08:20+00:00"


def recorded():
    """The JTL of the recorded run."""
    return (FOLDER / f"{NAME}.jtl").read_bytes()


def write_record(folder, execution, **fields):
    """Seal an execution of these fields, and write the run.json of a run of it alone."""
    sealed = manifest.Execution(**{"jtl": JTL, "properties": {}, "exit_code": 0} | execution)
    manifest.seal(sealed, folder)
    known = {"kind": "check", "started": STARTED, "criteria": [], "settings": {}, "environment": {}}
    made = manifest.Manifest(**known | fields, executions=[sealed])
    manifest.write(made, folder)
    return made


@contextmanager
def edited_record(folder):
    """The fields of its run.json, which are written again as they are left."""
    fields = json.loads((folder / "run.json").read_text())
    yield fields
    (folder / "run.json").write_text(json.dumps(fields))


def make(folder, of_the_run=HOLDS, **changes):
    """Write the folder of a run with these criteria, sealed; changes are its one execution's."""
    (folder / "plan").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(FOLDER / f"{NAME}.jmx", folder / "plan" / f"{NAME}.jmx")
    (folder / JTL).write_bytes(recorded())
    execution = {"name": "nap-alone", "plan": f"plan/{NAME}.jmx", "warmup": 2.0, "measured": 8.0}
    execution |= {"began": 1795223300.0, "ended": 1795223312.0} | changes
    return write_record(folder, execution, criteria=list(of_the_run))


def follow(folder):
    """Write the recorded run's plan with an arrival schedule besides, taken from the property
    `schedule`; returns the changes to the execution that name it and give it one."""
    group = (
        '<OpenModelThreadGroup testname="visitors">'
        '<stringProp name="OpenModelThreadGroup.schedule">${__P(schedule,pause(9 s))}</stringProp>'
        '<stringProp name="OpenModelThreadGroup.random_seed">7</stringProp>'
        "</OpenModelThreadGroup><hashTree/>"
    )
    text = (FOLDER / f"{NAME}.jmx").read_text()
    (folder / "plan").mkdir(parents=True, exist_ok=True)
    text = text.replace("<ThreadGroup ", f"{group}<ThreadGroup ", 1)
    (folder / "plan" / "followed.jmx").write_text(text)
    return {"plan": "plan/followed.jmx", "properties": {"schedule": "pause(5 s)"}}


def spoil(folder, jtl, sealed=False):
    """Put another JTL in the place of the run's; unsealed: and its seal into run.json."""
    (folder / JTL).write_bytes(jtl)
    made = manifest.read(folder)
    if not sealed:
        manifest.seal(made.executions[0], folder)
    manifest.write(made, folder)


def verdict_of(folder):
    """What `tollgate judge` would say; raises what it would refuse with."""
    return judge(*evidence.gather(folder, manifest.read(folder)))


def reasons(verdict):
    """All reasons for a verdict, with whose fault each is, in one line."""
    return " / ".join(f"({reason.fault}) {reason.text}" for reason in verdict.reasons)
