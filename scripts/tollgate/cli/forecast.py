"""`tollgate forecast [FILE]`: checks a forecast and shows the load that a run would make of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from tollgate.base.paths import ROOT
from tollgate.base.text import duration_text
from tollgate.forecast.load import announce, load_steps
from tollgate.forecast.read import read_forecast
from tollgate.plan.read import read_plan
from tollgate.report.console import steps_table
from tollgate.taurus.shared import number

DEFAULT = Path("data/forecast.csv")
#: Knows the targets that a forecast may have columns for.
PLAN = ROOT / "plans" / "stress.jmx"
#: What `stress`, `load` and `soak` set: see taurus.yml.
_HELP = "factor 1.5 and length 0.5 is what `load` makes of it, length 2 what `soak` does"


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("forecast", help="check a forecast, show its load", epilog=_HELP)
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT, help=f"default: {DEFAULT}")
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


def show(arguments: argparse.Namespace) -> int:
    """Print the steps. Raises ForecastError, PlanError and ShapeError."""
    forecast = read_forecast(arguments.file, read_plan(PLAN, {}).labels)
    steps = load_steps(forecast, arguments.factor, arguments.length, arguments.scale)
    print(steps_table(steps))
    step_s = steps[0].to_s - steps[0].from_s
    compressed = f", compressed to {duration_text(step_s)}" if arguments.scale > 1 else ""
    print(f"\neach step is {duration_text(forecast.step_s)} long{compressed}")
    print(announce(steps, scale=arguments.scale))
    return 0
