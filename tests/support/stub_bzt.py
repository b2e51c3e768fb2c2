"""In place of bzt: leaves the folder of a comparison that took no time, judged as ever.

HEAD_INJECT_WORK_PERCENT makes head slower by as much. ASKED names a file that gets a line on each
call. FAILING="at once" leaves nothing; "never ends FILE" tells in that file how far it is.
"""

import json
import os
import sys
import time
from pathlib import Path

KEPT = ("BASE", "MODE", "HEAD_INJECT_WORK_PERCENT", "HEAD_URL", "INJECT_DELAY_MS")


def wait(file):
    with file.open("w") as said:
        try:
            print("began", end="", file=said, flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            print(", and ended in good order", end="", file=said)
            sys.exit(2)


def compare(options):
    # What takes long to import is of no use to a run that does not get so far.
    from support.compare_folder import SAME, Label, Load, make
    from tollgate.compare.model import GateSettings
    from tollgate.gather import evidence
    from tollgate.judge.judgement import judge
    from tollgate.record import manifest
    from tollgate.report import write as outputs

    run = Path(options["settings.artifacts-dir"])
    percent = float(os.environ.get("HEAD_INJECT_WORK_PERCENT", 0))
    share = 1 + percent / 100
    injected = {"work_percent": percent} if percent else {}
    load = Load(
        (Label("sum", 20.0, ratio=share, sigma=0.1), Label("search", 9.0, sigma=0.1)),
        seed=int(next(value for name, value in options.items() if name.endswith("seed"))),
        seconds=121,
        settings=GateSettings(budget_s=120.0, gates=("p50", "p95"), fail_fast=False),
    )
    make(run, load, of={"head": SAME, "injected": injected})
    (run / "jmeter.log").write_text("much")
    asked = {"options": options, "environment": {it: os.environ.get(it) for it in KEPT}}
    asked["samples"] = (run / "kpi.jtl").read_text().count("\n") - 1
    if file := os.environ.get("ASKED"):
        with Path(file).open("a") as calls:
            print(json.dumps(asked), file=calls)
    made = manifest.read(run)
    gathered, settings = evidence.gather(run, made)
    verdict = judge(gathered, settings)
    outputs.write_all(run, verdict, gathered, made)
    return verdict.exit_code


def main():
    failing = os.environ.get("FAILING", "")
    if failing == "at once":
        sys.exit("bzt: no such revision")
    if failing.startswith("never ends"):
        wait(Path(failing.removeprefix("never ends ")))
    sys.exit(compare(dict(it.split("=", 1) for it in sys.argv[1:] if it != "-o")))


if __name__ == "__main__":
    main()
