"""The folder of a run: its own, from before Taurus writes the first file into it.

Taurus takes a folder that is there already, and writes over what it finds. Two starts within a
second would have one name, `reports/<UTC time>-<kind>`, in one checkout or in two that share a
folder of reports. So the first run of a second makes the folder with that time in its name, and
a later one waits for the next second: names stay what they are, and in order. A folder that
a user chose may be there, but not while another run writes to it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError, ToolError
from bzt.engine import Engine

from tollgate.base import disk as room
from tollgate.targets import lock

#: What stands for the time in taurus.yml.
UTC = "TOLLGATE_UTC"
_STAMP = "%Y%m%dT%H%M%SZ"


def stamp(seconds: float) -> str:
    """A moment, in seconds since the epoch, as the name of a folder has it."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime(_STAMP)


def keep_to_own(engine: Engine) -> None:
    """Let an engine of Taurus make its folder of artifacts as `claim` does."""
    create = engine.create_artifacts_dir

    def create_own(*arguments: Any, **options: Any) -> None:
        _refuse_second_run(engine.config)
        folder = _wanted(engine)
        if (free := room.free(folder)) < room.LEAST:
            raise TaurusConfigError(
                f"settings.artifacts-dir: {folder} has {free // room.MIB} MiB free, a run needs at "
                f"least {room.LEAST // room.MIB}: make room there, or name another folder"
            )
        engine.artifacts_dir, engine.artifacts_lock = claim(lambda: _wanted(engine))
        create(*arguments, **options)

    engine.create_artifacts_dir = create_own


def claim(folder_now: Callable[[], Path]) -> tuple[str, int]:
    """Make a folder that no other run has: its path, and what holds it while this process lives.

    folder_now: the folder, by what stands in the environment as TOLLGATE_UTC. Raises
    TaurusConfigError."""
    while True:
        at = time.time()
        os.environ[UTC] = stamp(at)
        folder = folder_now()
        if _is_new(folder) or os.environ[UTC] not in str(folder):
            return str(folder), _hold(folder)
        time.sleep(1 - at % 1)


def _is_new(folder: Path) -> bool:
    """Make it; False where it is there already. Raises TaurusConfigError."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return True
    except OSError as problem:
        raise _refused(folder, f"can't be made ({problem.strerror})") from None
    return False


def _hold(folder: Path) -> int:
    """Keep other runs out of a folder until the descriptor returned is closed."""
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as problem:
        raise _refused(folder, f"can't be used ({problem.strerror})") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise _refused(folder, "is that of a run that is under way") from None
    except OSError:
        pass  # some file systems lock no folders; those with the time in their name are new anyway
    return held


def _wanted(engine: Engine) -> Path:
    """The folder by settings.artifacts-dir, as Taurus itself would have it."""
    settings = engine.config.get("settings", force_set=True)
    setting = settings.get("artifacts-dir", engine.ARTIFACTS_DIR)
    engine.artifacts_dir = datetime.now().strftime(setting)
    try:
        return Path(engine._Engine__expand_artifacts_dir())  # of bzt 1.17.2
    finally:
        engine.artifacts_dir = None  # it is not ours yet


def _refuse_second_run(config: Mapping[str, Any]) -> None:
    """A run that `targets` would turn away makes no folder; that its lock is free is found there.

    Raises ToolError."""
    services = config.get("services", [])
    names = [it.get("module", None) if isinstance(it, dict) else it for it in services]
    owner = lock.holder() if "targets" in names else None
    if owner is not None:
        raise ToolError(f"targets: {lock.under_way(owner)}")


def _refused(folder: Path, why: str) -> TaurusConfigError:
    return TaurusConfigError(f"settings.artifacts-dir: {folder} {why}: name another folder")
