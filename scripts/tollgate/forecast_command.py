"""`tollgate forecast [FILE]`: checks a forecast and shows the load that a run would make of it."""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

from tollgate.forecast import ForecastError, read_forecast
from tollgate.forecast_output import steps_table
from tollgate.load_shape import ShapeError, announce, load_steps

DEFAULT = Path("data/forecast.csv")
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
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number such as 2 or 1/3") from None


def show(arguments: argparse.Namespace) -> int:
    """Print the steps; returns 1, with a line for each error, if the file can't be used."""
    try:
        forecast = read_forecast(arguments.file)
        steps = load_steps(forecast, arguments.factor, arguments.length, arguments.scale)
    except (ForecastError, ShapeError) as problem:
        for line in str(problem).splitlines():
            print(f"tollgate: {line}", file=sys.stderr)
        return 1
    print(steps_table(steps))
    print(f"\n{announce(steps, scale=arguments.scale)}")
    return 0
