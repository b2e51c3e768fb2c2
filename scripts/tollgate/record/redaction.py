"""What is secret among properties, arguments and settings, and texts without it. Pure.

A name stands for a secret if one of its words does: `pass`, `token`, `cookie` or `key`, say. Words
end at whatever is no letter, and where a capital follows a small one, so that `api_token`, `DbPass`
and `licence.key` do; `keyword`, `monkey`, `compass` and `passed` are words of their own. None is a
name whose next word says where the secret is kept or what it is like, as in `keyStore`, `token_url`
and `pass_rate`, nor a number of them, as in `max_tokens`; nor are true, false and nothing, whatever
they are called. In a URL, what stands before the @ is secret, and so are parameters of such names.

The names are those of Sentry's denylist (sentry-sdk 2.75, `sentry_sdk.scrubber.DEFAULT_DENYLIST`,
MIT), but for x_forwarded_for, an address, and some more. They are copied because the package would
add 2 MB and two dependencies for some thirty names, and compares whole names: `db_password` is none
of them.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote

#: Stands in the place of a secret.
MARK = "<redacted>"
#: Words that stand for a secret, alone or in the plural.
_WORDS = {
    *("pass", "pwd", "pw", "key", "cred", "auth", "authorization", "bearer", "jwt", "otp"),
    *("keypass", "storepass", "dbpass", "userpass", "cookie", "csrf", "xsrf", "symfony"),
    *("sas", "sig", "signature", "pat", "dsn"),
}
#: What ends the words up to one that stands for a secret: `mypassword`, `auth-token`, `sessionId`.
_ENDINGS = (
    *("password", "passwd", "passphrase", "passcode", "token", "secret", "credential"),
    *("apikey", "accesskey", "secretkey", "privatekey", "sessionid", "sessid", "connectsid"),
    "connectionstring",
)
#: What ends the name of a secret; `session_length` is none.
_LAST = "session"
#: A word behind one of those that makes the two a place or a property of the secret.
_ABOUT = {
    *("store", "file", "path", "dir", "folder", "url", "uri", "type", "size", "length"),
    *("count", "rate", "limit", "ttl", "timeout", "policy", "manager"),
}
#: A word before one of those that makes the two a number; all but `per` before a plural alone.
_NUMBER = {"max", "min", "num", "total"}
#: The letter of an option in front of a name that counts: `-Jmax_tokens=9`.
_OPTION_LETTER = re.compile(r"^-[A-Z](?=(?i:max|min|num|total)(?![a-z]))")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Keys of Taurus's settings below which every name is a property's, dots and all.
_PROPERTIES = ("properties", "system-properties")
#: `name=value` at the start of a word, also behind the letter of an option of JMeter or Java, as
#: in `-Japi_token=...`, and `--name value`.
_OPTION = re.compile(
    r"""(?<!\S)(?P<name>-{0,2}[\w.%-]+=|--[\w-]+\s)(?P<value>"[^"]*"|'[^']*'|\S+)"""
)
_PARAMETER = re.compile(r"""(?<=[?&;#])(?P<name>[\w.%\[\]-]+=)(?P<value>[^&;#\s"'<>]+)""")
#: To the end of a line, as a header, or of what is quoted, as in JSON.
_HEADER = re.compile(
    r"""(?<![^\s"'{,])(?P<name>[\w.-]+(?:["']:[ \t]*|:[ \t]+)["']?)(?P<value>[^\s"'][^\r\n"']*)"""
)
_USER = re.compile(r"(?P<name>(?<=://))(?P<value>[^/\s?#]+)(?=@)")
#: Ends the name of a property with what a variable holds as JSON has it between quotes.
AS_JSON = "_json"
#: Shorter values are hidden behind their name alone: `1` is nearly everywhere.
_LEAST = 6
_NEVER = "(?!)"


def is_secret(name: str) -> bool:
    """Whether what has this name is a secret."""
    while (plain := unquote(name)) != name:
        name = plain
    words = [word.lower() for word in _WORD.findall(name)]
    until = ""
    for before, word, following in zip(["", *words], words, [*words[1:], ""], strict=False):
        until, single = until + word, word.removesuffix("s")
        is_named = not _WORDS.isdisjoint((word, single))
        is_named |= until.removesuffix("s").endswith(_ENDINGS)
        is_last = not following and until.endswith(_LAST)
        is_number = before == "per" or (before in _NUMBER and word != single)
        if (is_named or is_last) and following not in _ABOUT and not is_number:
            return True
    return False


class Redaction:
    """Redacts, and remembers what it took away, so that it can be hidden from logs as well."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str]] = set()
        self._variables: set[str] = set()
        self._known: frozenset[tuple[str, str]] = frozenset()
        self._whole = self._named = re.compile(_NEVER)

    def add(self, name: str, value: str) -> None:
        """Have the value of a variable hidden, whatever its name: `SHOP_PASSWORD` also where it
        stands behind `password`."""
        as_json = f"{name}{AS_JSON}"
        self._variables |= {name, as_json}
        for each in (name, name.rpartition("_")[2], as_json):
            self._take(each, value)
            self._take(each, json.dumps(value)[1:-1])

    def settings(self, value: Any, name: str = "", is_property: bool = False) -> Any:
        """Settings, nested as they may be, with the mark in the place of each secret. name: their
        own; is_property: whether it is one of JMeter, all of whose names count."""
        if isinstance(value, Mapping):
            return {key: self._below(name, str(key), it, is_property) for key, it in value.items()}
        if isinstance(value, list | tuple):
            return [self.settings(each, name, is_property) for each in value]
        if value is None or isinstance(value, bool) or str(value).lower() in ("", "true", "false"):
            return value
        if is_secret(name) or name in self._variables:
            self._take(name, str(value))
            return MARK
        return self.text(value) if isinstance(value, str) else value

    def _below(self, name: str, key: str, value: Any, is_property: bool) -> Any:
        if is_property:
            return self.settings(value, f"{name}.{key}", True)
        if key in _PROPERTIES and isinstance(value, Mapping):
            return {own: self.settings(it, str(own), True) for own, it in value.items()}
        return self.settings(value, key)

    def properties(self, properties: Mapping[str, Any]) -> dict[str, str]:
        """Properties of JMeter as texts."""
        return {name: str(self.settings(it, name, True)) for name, it in properties.items()}

    def arguments(self, words: Iterable[str]) -> list[str]:
        """The arguments of bzt: `-o path.to.setting=value`, and values of URLs."""
        return [self._argument(word) for word in words]

    def _argument(self, word: str) -> str:
        path, equals, value = word.partition("=")
        if path == "--option":
            return f"{path}={self._argument(value)}"
        if not equals or not re.fullmatch(r"[\w.~^$*-]+", path):
            return self.text(word)
        name = path.rpartition("properties." if "properties." in path else ".")[2]
        return f"{path}={self.settings(value, name)}"

    def text(self, text: str) -> str:
        """A text without what is secret in its URLs, its lines of headers and its options."""
        for pattern in (_USER, _HEADER, _PARAMETER, _OPTION):
            text = pattern.sub(self._without, text)
        return text

    def _without(self, match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        counts = _OPTION_LETTER.sub("", name)
        bare = counts.rstrip("=: \t\"'").lstrip("-")
        is_ours = name == "" or is_secret(bare) or (counts[0] == "-" and is_secret(bare[1:]))
        if not is_ours:
            return match[0]
        self._take(bare, value.strip("\"'"))
        if not name and (password := value.partition(":")[2]):
            self._take("password", password)
        return f"{name}{MARK}"

    def _take(self, name: str, value: str) -> None:
        if value != MARK:
            self._taken.add((name.rpartition(".")[2], value))

    def hide(self, text: str) -> str:
        """Any text without what was taken away until now: whole where it is long enough to be
        unlike other words, else where it stands behind its name."""
        if not self._taken:
            return text
        if self._taken != self._known:
            self._known = frozenset(self._taken)
            long = [value for _, value in self._known if len(value) >= _LEAST]
            self._whole = re.compile(_any(form for value in long for form in _forms(value)))
            short = [each for each in self._known if each[0] and len(each[1]) < _LEAST]
            names, values = _any(name for name, _ in short), _any(value for _, value in short)
            behind = rf"""(?P<name>(?i:{names})['"\]]*\s*[:=]\s*['"]?)"""
            self._named = re.compile(rf"{behind}{values}(?!\w)")
        return self._named.sub(rf"\g<name>{MARK}", self._whole.sub(MARK, text))


def _any(texts: Iterable[str]) -> str:
    """The longest first, for one may be a part of another."""
    longest_first = sorted(set(texts), key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, longest_first)) or _NEVER})"


def _forms(value: str) -> set[str]:
    """A value as it is, and as JSON, Python, XML and URLs write it; forms do so as Java does."""
    return {
        *(value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]),
        *(repr(value)[1:-1], html.escape(value), html.escape(value, quote=False)),
        *(quote(value), quote(value, safe=""), quote_plus(value)),
        quote_plus(value, safe="*").replace("~", "%7E"),
    }
