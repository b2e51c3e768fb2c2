"""What shaped the load of an execution, from run.json as of any version.

Two runs are comparable where the same load met the same machine: the same kind of run, the same
plan and fragments (by their SHA-256), the same properties that shape the load (rates, warm-up,
length), the same targets in the same mode with as many instances and under the same environment
variables that change them, on the same CPU model with as many cores. What a trend is to show is
none of these: the commit, and the versions of Node, Java, JMeter and the system. Where one of those
changes, the page says so beside the mark. Files of data are not part of run.json; a commit that
changes them shows as a change of the commit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tollgate.pages.runs.lenient import mapping, objects, text
from tollgate.plan import copy as plan_copy

#: Beginnings of properties that say where JMeter writes and how it ends, not what it sends.
_HOUSEKEEPING = (
    *("jmeter.save.", "jmeterengine.", "summariser.", "user.classpath", "sampleresult."),
    *("sample_variables", "crosscheck_"),
)
#: Where the load goes: told by the target's name where there is one, for its port may be any.
_ADDRESS = ("host", "port")


def of_execution(
    run: Path, planned: dict[str, Any], hashes: dict[str, Any], sole: bool
) -> dict[str, Any]:
    """plan, plans, load and targets of an Execution. hashes: SHA-256 by path below the run's `plan`
    folder, of older runs by file name, of all plans of the run; sole: whether they are all of one
    plan, as nearly always."""
    plan = text(planned, "plan")
    names = set(hashes) if sole else _files_of(run, plan, set(hashes)) or set(hashes)
    targets = objects(planned, "targets") or [mapping(planned, "target")]
    told = tuple(
        (text(it, "name"), text(it, "mode"), str(it.get("instances"))) for it in targets if it
    )
    return {
        "plan": Path(plan).name,
        # By file name alone, so that a run is comparable with those that kept no more.
        "plans": tuple(sorted((Path(it).name, str(hashes[it])) for it in names & set(hashes))),
        "load": _load(mapping(planned, "properties"), run.name, bool(told)),
        "targets": told,
    }


def _files_of(run: Path, plan: str, known: set[str]) -> set[str]:
    """Those of the known files that a plan and its includes are, from the copies that the run
    keeps."""
    folder = (run / plan_copy.FOLDER).absolute()
    try:
        files = plan_copy.with_includes(run / plan) if (run / plan).is_file() else []
        paths = {path.relative_to(folder).as_posix() for path in files}
    except (OSError, ValueError):  # ValueError: it leads out of the folder
        return set()
    return paths if paths <= known else {path.name for path in files}


def _load(properties: dict[str, Any], run: str, targeted: bool) -> tuple[tuple[str, str], ...]:
    """Those that name a file of the run's own differ from run to run, and shape nothing. Of the
    run's name all of it has to be a part of the path: a folder may be called 30."""
    kept = {
        name: str(value)
        for name, value in properties.items()
        if not name.startswith(_HOUSEKEEPING)
        and not (targeted and name in _ADDRESS)
        and f"/{run}/" not in f"{value}/"
    }
    return tuple(sorted(kept.items()))
