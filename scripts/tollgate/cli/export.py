"""`tollgate export RUN --otlp URL | --openmetrics FILE`: what a run has measured, for others."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tollgate.base.text import UserError
from tollgate.export import openmetrics
from tollgate.export.events import verdict_events
from tollgate.export.finished import Finished
from tollgate.gather.judged import judged
from tollgate.judge.facts import Exported
from tollgate.record import manifest
from tollgate.record.manifest import Manifest

#: Seconds for the collector to take one message.
TAKEN_S = 30.0


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("export", help="send an archived run to a collector")
    parser.add_argument("run", type=Path, help="the run's folder, e.g. reports/latest")
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--otlp", metavar="URL", help="of a collector, such as http://127.0.0.1:4318")
    to.add_argument("--openmetrics", metavar="FILE", type=Path, help="write this text, or - for it")
    parser.set_defaults(command=export)


def export(arguments: argparse.Namespace) -> int:
    """Export with the run's own times. Raises UserError, also for what a run left that can't be
    read."""
    record = manifest.read(arguments.run)
    finished = Finished(arguments.run, record)
    if arguments.otlp:
        return _send(arguments.run, record, finished, arguments.otlp)
    # OpenTelemetry takes a fifth of a second to import, from each other command too.
    from tollgate.export.otel import resource_of

    resource = resource_of(arguments.run, record).attributes
    moments = finished.moments(judged(arguments.run, record).verdict)
    if str(arguments.openmetrics) == "-":
        sys.stdout.reconfigure(encoding="utf-8")  # which the format demands
        openmetrics.write(moments, resource, sys.stdout)
    else:
        with arguments.openmetrics.open("w", encoding="utf-8") as file:
            openmetrics.write(moments, resource, file)
    return 0


def _send(run: Path, record: Manifest, finished: Finished, url: str) -> int:
    from tollgate.export.otel import resource_of, to_logs, to_metrics  # as above
    from tollgate.export.otlp import Message, Sender

    if not url.startswith(("http://", "https://")):
        raise UserError(f"--otlp is {url!r}: write a URL, such as http://127.0.0.1:4318")
    sender = Sender(url, warn=_warn_of_events)
    resource, last, refused = resource_of(run, record), None, ""
    verdict = judged(run, record).verdict
    for moment in finished.moments(verdict):
        points = to_metrics(moment.metrics, resource, finished.began_s, moment.at_s)
        last = Message(points, moment.rows)
        sender.offer(last)
        if not (is_taken := sender.flush(TAKEN_S)):
            if not sender.may_take_others:
                break
            refused = sender.problem
    if last is None:
        raise UserError(f"{run} has no samples to export")
    if is_taken:
        ended_s = max(it.ended or 0.0 for it in record.executions)
        decided = verdict_events(verdict, record, ended_s)
        sender.offer(last, to_logs(decided, resource))
        is_taken = sender.flush(TAKEN_S)
    for name, rows in finished.of.items():
        print(f"{name}: {Exported(sender.acknowledged.get(name, 0), rows).line}")
    if sender.problem or not is_taken:
        raise UserError(f"{url}: {sender.problem or 'the collector did not answer in time'}")
    if refused:
        print(f"tollgate: {url}: earlier points in time are not taken: {refused}", file=sys.stderr)
    return 0


def _warn_of_events(problem: str) -> None:
    """What keeps metrics from being sent is the error at the end."""
    if problem.startswith("events"):
        print(f"tollgate: {problem}", file=sys.stderr)
