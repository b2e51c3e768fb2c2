"""Text of unknown origin as Markdown that is no markup, and rows of tables. Pure."""

from __future__ import annotations

import html
import re

from tollgate.base.figures import one_line

# Whatever begins markup in CommonMark or in GitHub's dialect of it; a line that begins with a slash
# is a command to GitLab.
_SPECIAL = re.compile(r"([\\`*_<>|\[\]&~$#]|^/)")
# Whom a comment would notify, and what it would be linked to. Both are looked for in the text that
# comes of the Markdown, where no escape is left; a character that nobody sees keeps them apart.
_REFERENCE = re.compile(r"@|[#!](?=\d)")
_APART = "&#8203;"
# Inside <code> Markdown goes on working; &, < and > are entities by then.
_IN_CODE = re.compile(r"[\\`*_|\[\]~$#]")


def row(cells: tuple[str, ...] | list[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def code(text: str) -> str:
    """As code, in which nobody is notified. Where backticks can't hold the text, for they know no
    escape, as HTML."""
    text = one_line(text)
    if not re.search(r"[`|\\]", text):
        return f"`{text}`"
    markup = html.escape(text, quote=False)
    return f"<code>{_IN_CODE.sub(lambda it: f'&#{ord(it[0])};', markup)}</code>"


def escaped(text: str) -> str:
    """Text of unknown origin as one line that is no markup, and that notifies nobody."""
    return _REFERENCE.sub(rf"\g<0>{_APART}", _SPECIAL.sub(r"\\\1", one_line(text)))
