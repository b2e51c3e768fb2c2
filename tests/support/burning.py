"""Processes that burn CPU time and say so."""

import os
import subprocess
import sys
from contextlib import contextmanager

#: The kernel counts in ticks, and each figure of each process is cut off to whole ones.
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
TOLERANCE_S = 8 * TICK_S

#: Burns CPU time, says so, and does what else it is told on its standard input.
BURN = """
import os, subprocess, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
"""
BURNS = BURN + "burn(0.3); print('burnt', flush=True); sys.stdin.read()"


@contextmanager
def processes():
    """Starts a Python program with pipes; ends what is left of them all."""
    running = []

    def start(program):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        command = [sys.executable, "-c", program]
        running.append(subprocess.Popen(command, start_new_session=True, **pipes))
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            process.communicate()
