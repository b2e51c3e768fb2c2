"""Hosts of a test's own: network namespaces, each joined by a link to that of the controller."""

import itertools
import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager

_NUMBERS = itertools.count()


def may_make_them():
    """Whether this user may: root on Linux, with iproute2."""
    if not shutil.which("ip") or not shutil.which("nsenter"):
        return False
    name = f"tollgate-{os.getpid()}-probe"
    try:
        _ip("netns", "add", name)
    except subprocess.CalledProcessError:
        return False
    _ip("netns", "del", name)
    return True


class Hosts:
    """The controller's is number 0. They know nothing of this machine's network, nor it of them."""

    def __init__(self, name):
        self._name = name

    def address(self, number):
        return f"10.99.0.{number + 1}"

    def inside(self, number):
        """What begins a command that is to run there."""
        return ("nsenter", f"--net=/run/netns/{self.name_of(number)}", "--")

    def cut_off(self, number):
        """Take the link between an engine's host and the controller's down."""
        _ip("-n", self.name_of(0), "link", "set", f"to-{number}", "down")

    def join(self, number):
        """Bring it up again."""
        _ip("-n", self.name_of(0), "link", "set", f"to-{number}", "up")

    def name_of(self, number):
        return f"{self._name}-{number}"

    def add(self, number):
        inside = ("-n", self.name_of(number))
        _ip("netns", "add", self.name_of(number))
        _ip(*inside, "link", "set", "lo", "up")
        if number == 0:
            _ip(*inside, "link", "add", "net", "type", "bridge")
        else:
            peer = ("peer", "name", "net", "netns", self.name_of(number))
            _ip("-n", self.name_of(0), "link", "add", f"to-{number}", "type", "veth", *peer)
            _ip("-n", self.name_of(0), "link", "set", f"to-{number}", "master", "net", "up")
        _ip(*inside, "addr", "add", f"{self.address(number)}/24", "dev", "net")
        _ip(*inside, "link", "set", "net", "up")


@contextmanager
def hosts(engines):
    """The controller's and so many others, gone afterwards; what runs there must have ended."""
    made = Hosts(f"tollgate-{os.getpid()}-{next(_NUMBERS)}")
    with ExitStack() as added:
        for number in range(engines + 1):
            made.add(number)
            added.callback(_ip, "netns", "del", made.name_of(number))
        yield made


def _ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)
