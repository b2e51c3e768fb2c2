"""What a new target is called, where it is, and what is wrong with that. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tollgate.base import Url

#: Names of files, labels, routes and kinds of run.
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 40
#: `-latest` could be a kind, but reports/latest is the newest run; `check` is a kind without alias.
TAKEN = ("latest", "new", "both", "check")


class NewTargetError(ValueError):
    """One line: what can't be made, why, and what to do."""


@dataclass(frozen=True)
class NewTarget:
    """What to make. remote: a service that runs already. app: one of ecosystem.config.js. Without
    both a router of the project's own server. path: what a service is asked."""

    name: str
    remote: Url | None = None
    app: str | None = None
    path: str = "/"

    @property
    def is_router(self) -> bool:
        return self.remote is None and self.app is None

    @property
    def identifier(self) -> str:
        """The name in JavaScript: `orderService` for `order-service`."""
        first, *others = self.name.split("-")
        return first + "".join(word.capitalize() for word in others)

    @property
    def prefix(self) -> str:
        """The name in JMeter properties, where bzt takes a dot for a path: `order_service`."""
        return self.name.replace("-", "_")


def checked(target: NewTarget) -> NewTarget:
    """The same. Raises NewTargetError."""
    name = target.name
    if not NAME.fullmatch(name) or not 2 <= len(name) <= LONGEST:
        raise NewTargetError(
            f"{name!r} is no name for a target: 2 to {LONGEST} of a-z, 0-9 and single dashes, "
            "beginning with a letter, such as order-service"
        )
    if name in TAKEN:
        raise NewTargetError(f"{name!r} is taken by Tollgate itself: choose another name")
    if not re.fullmatch(r"/[^\s,\"$\\]*", target.path):
        raise NewTargetError(
            f"{target.path!r} is no path: it begins with / and holds no space, comma or quote"
        )
    return target
