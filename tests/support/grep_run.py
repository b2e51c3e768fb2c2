"""In place of `tollgate run`: measures nothing, and looks for words in the commit that is head.

It finds both commits where a run does, leaves the verdict of an archived comparison, and ends with
its code. SEEN names a file that gets a line on each call.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

ARCHIVE = Path(__file__).parents[1] / "archive"
#: By a word of the server: whose verdict, and how the run ends.
VERDICTS = {
    "slow": ("compare-fail", 3),
    "noisy": ("compare-inconclusive", 5),
    "invalid": ("check-invalid", 4),
}
DIES = "[2026-11-21 10:00:00,000 ERROR root] Child Process Error: targets: app 'head' died at start"
BUSY = "[2026-11-21 10:00:00,000 ERROR root] targets: port 3002 of app 'head' is in use by pid 12"


def main():
    options = dict(it.split("=", 1) for it in sys.argv[1:] if "=" in it)
    folders = json.loads(os.environ["TOLLGATE_SIDES"])["folders"]
    base, head = (Path(it, "app", "server.js").read_text() for it in folders)
    with Path(os.environ["SEEN"]).open("a") as seen:
        print(json.dumps({"base": base, "head": head, "options": options}), file=seen)
    run = Path(options["settings.artifacts-dir"])
    run.mkdir(parents=True, exist_ok=True)
    if "interrupts" in head and not Path(os.environ["SEEN"]).with_name("interrupted").exists():
        Path(os.environ["SEEN"]).with_name("interrupted").touch()
        signal.signal(signal.SIGINT, lambda *_: sys.exit(2))
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(60)
    for word, line in {"dies": DIES, "busy": BUSY}.items():
        if word in head:
            (run / "bzt.log").write_text(f"{line}\n")
            sys.exit(1)
    name, code = next((it for word, it in VERDICTS.items() if word in head), ("compare-pass", 0))
    verdict = json.loads((ARCHIVE / name / "verdict.json").read_text())
    if "wrong" in head:
        [execution] = verdict["executions"]
        for it in execution["comparison"]["findings"]:
            it["gates"], it["verdict"] = it["metric"] == "errors", "FAIL"
        code = 3
    (run / "verdict.json").write_text(json.dumps(verdict))
    sys.exit(code)


if __name__ == "__main__":
    main()
