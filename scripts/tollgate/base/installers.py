"""What installers of packages print."""

from __future__ import annotations

import re

#: How npm, pnpm, Yarn 1 and Yarn from 2 on mark what is about an error.
_MARKED = re.compile(
    r"npm (?:error|ERR!)\s*(.*)|npm (?:warn|WARN|notice) |(?:ERR_PNPM_\w+|ELIFECYCLE|error)\s+(.*)"
    r"|➤ YN(?:0000.*|\d{4}: [│└┌·] (.*))"
)
#: What is none of it: details, hints, and the lines of a lock file that Yarn compares.
_BESIDE = re.compile(r"(?:code|errno|syscall|path|command sh|A complete log)\b|[-+@ ]|$")
#: Of a script, which has said before what is wrong.
_FAILED = re.compile("command failed", re.IGNORECASE)


def reason(output: str) -> str:
    """The line that says why one failed: its first about the error, or the last of a script that it
    ran; its last where it marks none."""
    before: list[str] = []
    for line in filter(None, map(str.strip, output.splitlines())):
        marked = _MARKED.match(line)
        if marked is None:
            before.append(line)
            continue
        text = next(filter(None, marked.groups()), "")
        if _FAILED.match(text) and before:
            break
        if not _BESIDE.match(text):
            return text
    return (before or output.split("\n")[-2:-1] or ["it said nothing"])[-1]
