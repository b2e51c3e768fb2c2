"""`tollgate engine`: be one of several machines that send a load."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NoReturn

from tollgate.base.paths import STATE, no_suite
from tollgate.engines import machine
from tollgate.install import assemble
from tollgate.record.environment import cpu_model
from tollgate.schedule.share import ShareError, parse_share
from tollgate.targets import probe


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("engine", help="offer this machine as a remote engine")
    parser.add_argument("share", metavar="k/N|keystore", help="which engine it is, of how many")
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        help="of this machine, at which it listens and is reached; this machine alone by default",
    )
    parser.add_argument(
        "--port", type=int, default=machine.PORT, help="the first of two, default %(default)s"
    )
    parser.add_argument(
        "--plans",
        type=Path,
        default=machine.PLANS,
        metavar="FOLDER",
        help="from which data files are named: that of a plan of your own, on this machine",
    )
    parser.set_defaults(command=engine)


def engine(arguments: argparse.Namespace) -> int:
    """Become an engine, or make the key. Raises EngineError and InstallError."""
    if problem := no_suite():
        raise machine.EngineError(problem)
    if arguments.share != "keystore":
        _become(arguments)
    machine.make_keystore()
    print(
        f"{machine.KEYSTORE}: copy it to the same place in the suite of each host, unseen "
        "by others: its owner can run anything there"
    )
    return 0


def _become(arguments: argparse.Namespace) -> NoReturn:
    try:
        share = parse_share(arguments.share)
    except ShareError as problem:
        raise machine.EngineError(str(problem).replace("ENGINE is", "the engine is")) from None
    machine.check_keystore()
    plans = arguments.plans.absolute()
    if not plans.is_dir():
        raise machine.EngineError(f"--plans {plans}: there is no such folder: name yours")
    _check_ports(arguments.address, arguments.port)
    assemble.provide()
    folder = machine.FOLDER / f"{share.number}-of-{share.of}"
    STATE.mkdir(exist_ok=True)
    machine.place(share, plans, folder)
    facts = machine.facts_here(share, cpu_model(), os.cpu_count() or 1)
    command = machine.command(share, arguments.address, arguments.port, folder, facts)
    place, log = f"{arguments.address}:{arguments.port}", folder / "jmeter.log"
    print(f"Engine {share} at {place}, until Ctrl-C; its log is {log}", flush=True)
    os.chdir(plans)  # from which JMeter reads the data files that no property names
    os.execv(command[0], command)  # noqa: S606 - nothing is left that could outlive JMeter


def _check_ports(address: str, port: int) -> None:
    for each in (port, port + 1):
        if why := probe.why_taken(address, each):
            raise machine.EngineError(
                f"it can't listen at {address}:{each} ({why}): give an --address of this machine, "
                "and a --port that is free, as is the one behind it"
            )
