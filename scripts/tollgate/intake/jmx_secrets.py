"""What is secret in an element of a plan of JMeter gives way to variables of the environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from lxml import etree

from tollgate.intake import literal
from tollgate.intake.jmx_places import PATH
from tollgate.intake.message import TEXT
from tollgate.intake.variables import Variables, holds_secret
from tollgate.plan.expressions import evaluates
from tollgate.record.redaction import is_secret

#: Rows of tables that may hold a secret: properties for the name and the value, by their kind.
_ROWS = {
    "HTTPArgument": ("Argument.name", "Argument.value"),
    "Argument": ("Argument.name", "Argument.value"),
    "Header": ("Header.name", "Header.value"),
    "Authorization": ("", "Authorization.password"),
    "Cookie": ("", "Cookie.value"),
}
#: A name and its value, which ends the match, by how a variable has to be written in its place.
_PAIRS = {
    "json": re.compile(
        r'"(?P<name>[^"\\]+)"\s*:\s*(?P<quote>")?(?P<value>(?(quote)(?:[^"\\]|\\.)+|-?\d[\d.]*))'
    ),
    "xml": TEXT,
    "query": re.compile(r"(?<![^?&;\s])(?P<name>[\w.%\[\]-]+)=(?P<value>[^&;#\s\"'<>]+)"),
}
_REFERENCE = re.compile(rf"\$\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}|{literal.REFERENCE.pattern}")
_HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+[a-z]{2,10}(?![\w.-])")
_SLASH = re.compile(r"(?<![:/])/")


def hide(element: etree._Element, variables: Variables) -> bool:
    """Have the secrets of an element come from the environment. Whether one may be left: what
    holds variables of the plan as well can't be replaced as a whole."""

    def secret(name: str, value: str, where: str = "") -> str:
        words = f"{name} of {element.get('testname')}"
        return variables.secret(name, value, words, where)

    may_be_left = False
    for name, prop in _texts(element):
        text, is_path = prop.text, prop.get("name") == PATH
        for kind in _PAIRS if _refers(text) or not name else ():
            # A path and a raw body are sent as they are written; JMeter encodes what has a name.
            where = "" if name and kind == "query" else kind
            if kind == "query" or not is_path:
                text = _PAIRS[kind].sub(partial(_hidden, secret, where), text)
        is_whole = not _refers(text) and not is_path
        if is_whole and (is_secret(name) or _may_hold_secret(text)):
            text = secret(name or "body", text)
        may_be_left |= _may_hold_secret(text)
        # What JMeter sent as it stood, it sends so from now on too, but for the secret.
        is_evaluated = not literal.has_reference(text) or evaluates(prop.text)
        prop.text = literal.opened(text) if is_evaluated else literal.written(text)
    for url in element.iterfind(".//stringProp[@name='Authorization.url']"):
        url.text = ""  # of any host
    return may_be_left


def _refers(text: str) -> bool:
    return "${" in text or literal.has_reference(text)


def _hidden(secret: Callable[[str, str, str], str], where: str, pair: re.Match[str]) -> str:
    """A name and its value, in the place of which a variable stands if it is secret."""
    name, value = pair["name"], pair["value"]
    if _refers(value) or not (is_secret(name) or _may_hold_secret(value)):
        return pair[0]
    return pair[0].removesuffix(value) + secret(name, value, where)


def _texts(element: etree._Element) -> Iterator[tuple[str, etree._Element]]:
    """(name, property) of each text that may be a secret, or hold one. A path and a raw body have
    no name."""
    texts = []
    for row in element.iter("elementProp"):
        if kind := _ROWS.get(row.get("elementType", "")):
            of_name, of_value = (f"./stringProp[@name='{it}']" for it in kind)
            own = row.get("name") or "password"
            name = (row.findtext(of_name) or "") if kind[0] else own
            texts += [(name, it) for it in row.iterfind(of_value)]
    for prop in element.iterfind("./stringProp"):
        name = prop.get("name", "")
        if name == PATH or is_secret(name):
            texts.append(("" if name == PATH else name.rpartition(".")[2], prop))
    # As elsewhere, a flag is no secret, whatever its name: JSR223 has `cacheKey`.
    return (it for it in texts if (it[1].text or "true").lower() not in ("true", "false"))


def _may_hold_secret(text: str) -> bool:
    """Whether a text has a secret beside references to variables. The words of a path, or of the
    name of a host, are taken one by one: together they look as random as a secret."""
    plain = _HOST.sub("host ", _REFERENCE.sub("", text))
    return holds_secret(_SLASH.sub(" / ", plain))
