"""A virtual screen for windows of JMeter's."""

import os
import subprocess
from contextlib import contextmanager

import support


@contextmanager
def virtual_screen():
    """The name of a screen that is there until the end."""
    reader, writer = os.pipe()
    words = ["-displayfd", str(writer), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    how = {"stderr": subprocess.DEVNULL, "env": support.environment()}
    server = subprocess.Popen(["Xvfb", *words], pass_fds=[writer], **how)
    os.close(writer)
    with os.fdopen(reader) as told:
        yield f":{told.readline().strip()}"
    server.terminate()
    server.wait()
