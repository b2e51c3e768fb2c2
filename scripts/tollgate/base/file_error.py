"""What is wrong with a file that a team wrote, all of it at once. Pure."""

from __future__ import annotations


class FileError(ValueError):
    """A file that can't be used: one line for each thing wrong with it, in `errors`."""

    #: More errors than this are counted, not listed.
    SHOWN = 10

    def __init__(self, *errors: str) -> None:
        left = len(errors) - self.SHOWN
        more = [f"and {left} more such errors: correct these first"] if left > 0 else []
        self.errors = (*errors[: self.SHOWN], *more)
        super().__init__("\n".join(self.errors))
