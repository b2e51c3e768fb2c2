"""The two roots: the package's own folder, and the suite's. The only module that knows."""

from __future__ import annotations

import os
from pathlib import Path

import tollgate

#: Code, templates, schemas and what the tools are made from; it may be read-only.
PACKAGE = Path(tollgate.__file__).resolve().parent
RUN_FILE = "taurus.yml"


def find_suite(folder: Path) -> Path:
    """The nearest folder from this one upwards that holds a taurus.yml; without one, this one."""
    found = (it for it in (folder, *folder.parents) if (it / RUN_FILE).is_file())
    return next(found, folder)


#: Of the run file that is in use, with its plans, data, apps and reports.
SUITE = find_suite(Path.cwd())
#: What is remembered between runs; ignored by git.
STATE = SUITE / ".tollgate"
PM2_HOME = STATE / "pm2"
REPORTS = SUITE / "reports"
#: The small records of all runs, beside their folders.
HISTORY = REPORTS / "history"
#: While a comparison lasts, a link to the check-out of its base, which stands in the cache.
BASE = STATE / "base"
#: What a file of PM2's apps is called, the likeliest first; .cjs in a folder of ES modules.
ECOSYSTEMS = tuple(
    f"{name}{ending}"
    for name in ("ecosystem", "pm2", "process")
    for ending in (".config.js", ".config.cjs", ".config.json", ".json", ".yml", ".yaml")
)
ECOSYSTEM = next((SUITE / it for it in ECOSYSTEMS if (SUITE / it).is_file()), SUITE / ECOSYSTEMS[0])


def no_suite() -> str | None:
    """Why there is no suite here, and what to do; None where there is one."""
    if (SUITE / RUN_FILE).is_file():
        return None
    return (
        f"there is no {RUN_FILE} in {SUITE} or above it: make one by `tollgate init`, or name a "
        "folder that has one: tollgate -C FOLDER ..."
    )


def cache() -> Path:
    """Where tools are assembled once: TOLLGATE_HOME; else the suite's own folder, if there are any
    in it; else the user's cache."""
    if given := os.environ.get("TOLLGATE_HOME"):
        return Path(given).absolute()
    return STATE if (STATE / "tools").is_dir() else user_cache()


def user_cache() -> Path:
    """The user's own cache, outside of any suite."""
    import platformdirs  # not there yet when scripts/bootstrap calls

    return platformdirs.user_cache_path("tollgate")


def identity(suite: Path) -> str:
    """This folder and no other: one in a container may have the same path."""
    return f"{suite}#{suite.stat().st_ino}"


def java_finds(*files: object) -> dict[str, str]:
    """The variables with which Java finds these files: in the locale `C`, which many a CI job has,
    it finds none whose path is not ASCII."""
    return {} if all(str(file).isascii() for file in files) else {"LC_ALL": "C.UTF-8"}
