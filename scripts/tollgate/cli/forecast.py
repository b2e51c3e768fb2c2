"""`tollgate forecast [FILE]`: checks a forecast and shows the load that a run would make of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from tollgate.base import paths
from tollgate.base.settings import number
from tollgate.base.text import duration_text
from tollgate.cli.run import section
from tollgate.forecast.load import announce, load_steps
from tollgate.forecast.read import read_forecast
from tollgate.plan.jmx import PlanError
from tollgate.plan.read import read_plan
from tollgate.report.console import steps_table
from tollgate.service.model import Service, is_service, read_service

DEFAULT = Path("data/forecast.csv")
#: What `stress`, `load` and `soak` set: see taurus.yml.
_HELP = "factor 1.5 and length 0.5 is what `load` makes of it, length 2 what `soak` does"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("forecast", help="check a forecast, show its load", epilog=_HELP)
    default = {"default": paths.SUITE / DEFAULT, "help": f"default: the suite's {DEFAULT}"}
    parser.add_argument("file", type=Path, nargs="?", **default)
    knows = "knows the targets that a forecast may have columns for; default: that of `stress`"
    parser.add_argument("--plan", type=Path, help=knows)
    for name, text in (
        ("factor", "of the forecast's rates"),
        ("length", "of the forecast's length, such as 2 or 1/3"),
        ("scale", "by how much time is compressed, e.g. 1440"),
    ):
        parser.add_argument(f"--{name}", type=_number, default=1.0, metavar="N", help=text)
    parser.set_defaults(command=show)


def _number(text: str) -> float:
    try:
        return number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number such as 2 or 1/3") from None


def _plan_of_stress() -> Path:
    """As the suite's run file names it. Raises PlanError."""
    try:
        folders = (it.get("plans") for it in section("scenarios").values())
        if folder := next(filter(None, folders), None):
            return paths.SUITE / folder / "stress.jmx"
        scenarios = section("cli-aliases")["stress"]["scenarios"].values()
        return paths.SUITE / next(it["script"] for it in scenarios)
    except (LookupError, TypeError, AttributeError, StopIteration):
        raise PlanError(
            f"{paths.SUITE / paths.RUN_FILE} has no plan for a kind `stress`: name one by --plan"
        ) from None


def _only_service() -> Service | None:
    """Of a suite whose taurus.yml describes one service, with requests, and no plan. Raises
    SettingError."""
    found = [(name, it) for name, it in section("scenarios").items() if is_service(it)]
    if len(found) != 1 or found[0][1].get("plans"):
        return None
    return read_service(str(found[0][0]), found[0][1])


def show(arguments: argparse.Namespace) -> int:
    """Print the steps. Raises ForecastError, PlanError, SettingError and ShapeError."""
    service = None if arguments.plan else _only_service()
    if service:
        slugs = {name: it.slug for it in service.requests for name in (it.label, it.slug)}
        forecast = read_forecast(arguments.file, slugs, service.shares)
    else:
        plan = arguments.plan or _plan_of_stress()
        forecast = read_forecast(arguments.file, read_plan(plan, {}).labels)
    steps = load_steps(forecast, arguments.factor, arguments.length, arguments.scale)
    print(steps_table(steps))
    step_s = steps[0].to_s - steps[0].from_s
    compressed = f", compressed to {duration_text(step_s)}" if arguments.scale > 1 else ""
    print(f"\neach step is {duration_text(forecast.step_s)} long{compressed}")
    print(announce(steps, scale=arguments.scale))
    return 0
