"""A copy of the project for a team to adopt, and the commands of its documentation."""

import os
import re
import subprocess
from pathlib import Path

import support
from e2e.bzt_run import WARMUP_S, seconds
from support.project_copy import copy_project

THEIRS = Path(__file__).with_name("theirs")
SECTION = "In a clone"
#: Enough to judge a mean by, and no minutes of it.
SHORT = " ".join(f"-o {option}" for option in seconds(WARMUP_S, 8))
#: For a busy machine, where a schedule of a few requests can be late.
PATIENT = "-o modules.verdict.missing-share=0.5"


class Copy:
    """The project, as if it had been cloned and installed beside the team's own folders."""

    def __init__(self, folder, ports):
        """ports: which free ones stand for those that the documentation names."""
        self.root = copy_project(folder / "tollgate")
        self.ports = ports

    def blocks(self, language):
        """The blocks of this language in the section of docs/services.md and on the page of one's
        own plans, with the copy's ports."""
        services = (self.root / "docs" / "services.md").read_text()
        section = re.search(rf"^## {SECTION}\n(.*?)^## ", services, re.MULTILINE | re.DOTALL)
        text = section[1] + (self.root / "docs" / "own-plans.md").read_text()
        blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        return [self.here(block) for block in blocks]

    def block(self, words):
        """The one block of commands that holds these words."""
        (found,) = [each for each in self.blocks("sh") if words in each]
        return found

    def here(self, text):
        for named, free in self.ports.items():
            text = text.replace(named, str(free))
        return text

    def shell(self, commands, **env):
        """Run commands of the documentation in the copy, by its own code."""
        environment = support.environment(**env)
        environment.pop("JMETER_HOME", None)
        return support.run("sh", "-euc", commands, cwd=self.root, env=environment)

    def make(self, command):
        made = self.shell(command)
        assert made.returncode == 0, made.stderr

    @property
    def latest(self):
        """The folder of the newest run."""
        return (self.root / "reports" / "latest").resolve()


def put_into_ecosystem(copy, line):
    """One more app, as docs/services.md says: a line of `apps`."""
    path = copy.root / "ecosystem.config.js"
    text = path.read_text()
    assert text.count("  apps: [\n") == 1
    path.write_text(text.replace("  apps: [\n", f"  apps: [\n{line}"))


def serve(script, port):
    """The service, which runs already; whoever starts it ends it."""
    env = {**os.environ, "PORT": str(port)}
    server = subprocess.Popen(["node", str(script)], env=env, stdin=subprocess.DEVNULL)
    support.wait_until(lambda: support.listens(port), "their service listens")
    return server
