"""The `bzt` command of the project's environment: Taurus, kept apart from the user's own set-up.

Plain bzt reads ~/.bzt-rc (and writes it where there is none) and etc/bzt.d, so a run would depend
on whose machine it is; it names the artifacts folder by local time, and takes one that is there
already; it dies of SIGTERM, which is how CI systems cancel a job, without cleaning up; and its log
and settings hold secrets. This entry point mends the four and leaves everything else to bzt.
"""

from __future__ import annotations

import logging
import os
import sys
import time

from bzt import ManualShutdown, ToolError, cli

from tollgate.base import disk as room
from tollgate.base.exit_codes import ExitCode
from tollgate.base.processes import end_by
from tollgate.cli import artifacts
from tollgate.install.tools import jmeter_home
from tollgate.record.redaction import Redaction
from tollgate.taurus import secrecy
from tollgate.taurus.engine import Engine
from tollgate.taurus.run_file import BASE_CONFIG, with_kinds
from tollgate.taurus.shared import under_way
from tollgate.taurus.verdict import VerdictExit, judge_unstarted


def interrupt_once(engine: Engine) -> None:
    """Let the first signal end the run in good order, and no later one break the cleaning up. A
    verdict that stands by then decides the exit code: what follows it is cut short alone."""

    def interrupt() -> None:
        judged = under_way(engine).judged
        if judged:
            engine.log.warning("Interrupted: the verdict stands, and what follows it is left out")
            raise VerdictExit(judged.verdict.exit_code)
        # Some of bzt's modules swallow every exception; its main loop looks at this as well.
        engine.interrupted = True
        # For verdict: what comes after that is not the run's.
        under_way(engine).interrupted_at = time.time()
        raise ManualShutdown

    end_by(interrupt)


def main() -> None:
    """Run bzt with the arguments of this process; exits with its exit code."""
    # For taurus.yml. JMeter runs in its plan's folder, and is named from here.
    os.environ["JMETER_HOME"] = str(jmeter_home().absolute())
    # Without its system configs bzt has no modules at all: the base one comes back by name.
    arguments = ["--no-system-configs", str(BASE_CONFIG), *sys.argv[1:]]
    options, configs = cli.get_option_parser().parse_args(arguments)
    configs = [configs[0], *with_kinds(*configs[1:])]
    redaction = Redaction()
    # For run.json: what makes the same run again. Known before the first line is logged.
    shown = redaction.arguments(sys.argv[1:])
    secrecy.hide_in_log(redaction)
    command = cli.CLI(options)
    command.engine = Engine(command.log, redaction, options.aliases)
    command.engine.arguments = shown
    interrupt_once(command.engine)
    artifacts.keep_to_own(command.engine)
    code = _performed(command, configs)
    end_by(lambda: None)  # what is left takes no time
    secrecy.hide_in_by_products(command.engine)
    judge_unstarted(command.engine)
    sys.exit(_exit_code(command.engine, code) or unproven(command.engine))


def _exit_code(engine: Engine, code: int) -> int:
    """The verdict's code in place of Taurus's own for any error, such as a killed JMeter."""
    judged = under_way(engine).judged
    return judged.verdict.exit_code or code if judged and code == ExitCode.ERROR else code


def _performed(command: cli.CLI, configs: list[str]) -> int:
    """What bzt exits with. A disk that is full is one line, not one for each line of the log."""
    logging.raiseExceptions = False
    handle = command.handle_exception

    def explained(problem: BaseException) -> None:
        line = room.explained(problem, command.engine.artifacts_dir)
        handle(ToolError(line) if line else problem)

    command.handle_exception = explained
    try:
        return command.perform(configs)
    except KeyboardInterrupt:  # among its last lines
        return command.exit_code
    except OSError as problem:  # of bzt.log, which is closed last
        if not room.is_full(problem):
            raise
        return command.exit_code or 1


def unproven(engine: Engine) -> int:
    """1 where bzt ends well and the run was not judged, e.g. without the module `verdict`."""
    if engine.started and not under_way(engine).judged:
        print("bzt: nothing judged this run: put `- module: verdict` under reporting", flush=True)
        return 1
    return 0
