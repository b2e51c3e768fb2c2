"""`tollgate merge RUN... --to FOLDER`: the shares of a load, judged as one run."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tollgate.engines import shards
from tollgate.history import files
from tollgate.record import manifest
from tollgate.record.manifest import ManifestError
from tollgate.report import write as outputs
from tollgate.report.pages.run import write as run_page


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("merge", help="judge the shares of a load as one run")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="the folder of a share")
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="a new folder")
    parser.set_defaults(command=merge)


def merge(arguments: argparse.Namespace) -> int:
    """Make the merged run's folder and show its verdict; leaves none where they are refused."""
    parts = shards.read_shards(arguments.runs)
    folder: Path = arguments.to
    if any(folder.resolve().is_relative_to(shard.folder.resolve()) for shard in parts):
        raise ManifestError(f"{folder} lies in the folder of a share: name one beside them")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ManifestError(f"{folder} is there already: name a new folder") from None
    try:
        _place(parts, folder)
        manifest.write(shards.merged(parts, folder), folder)
        judged = run_page.judge_and_write(folder)
        files.add(folder, judged, is_shared=False)
    except BaseException:
        shutil.rmtree(folder)
        raise
    outputs.show(judged.verdict)
    print(run_page.write(folder, judged))
    return judged.verdict.exit_code


def _place(parts: Sequence[shards.Shard], run: Path) -> None:
    """Put the shares' folders into that of the merged run: as further names of the same files
    where that can be, or else as copies. What is made of samples is left out: it is made anew. A
    link of theirs stays one: it may lead to anything of this machine."""
    for shard, name in zip(parts, shards.folders(len(parts)), strict=True):
        ignored = shutil.ignore_patterns(".*", "dashboard")
        how = {"symlinks": True, "ignore": ignored, "copy_function": _linked}
        shutil.copytree(shard.folder, run / name, **how)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
