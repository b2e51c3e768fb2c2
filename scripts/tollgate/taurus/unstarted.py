"""A verdict on a run that was interrupted before `verdict` was prepared: nothing was measured.

Taurus prepares the targets first, and calls only on modules that it has begun to prepare. Whoever
interrupts a run meanwhile finds a verdict all the same, and a folder that can be judged again.
"""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path

from bzt import ManualShutdown
from bzt.engine import Engine

from tollgate.gather import evidence
from tollgate.judge import judge
from tollgate.outputs import write as outputs
from tollgate.pages import PageError, run_page
from tollgate.run import fingerprint, manifest


def judge_unstarted(engine: Engine) -> None:
    """Write and show the verdict on a run that was interrupted before it had a run.json."""
    folder = Path(engine.artifacts_dir) if engine.artifacts_dir else None
    if not isinstance(engine.stopping_reason, ManualShutdown) or folder is None:
        return
    if not folder.is_dir() or (folder / manifest.NAME).exists():
        return
    settings = engine.config.get("modules").get("verdict", {})
    record = manifest.Manifest(
        kind=settings.get("kind", "check"),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        criteria=[],
        settings={},
        environment=fingerprint(),
        executions=[],
        interrupted=True,
        arguments=getattr(engine, "arguments", None),
    )
    manifest.write(record, folder)
    run, strictness = evidence.gather(folder, record)
    verdict = judge(run, strictness)
    outputs.write_all(folder, verdict, run, record)
    outputs.append_summary(verdict, record.kind)
    outputs.show(verdict)
    try:
        run_page.write(folder, run_page.Judged(record, run, strictness, verdict))
    except PageError as problem:
        print(f"report: {problem}", file=sys.stderr)
