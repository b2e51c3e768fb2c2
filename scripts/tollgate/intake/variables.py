"""Which values of recorded requests give way to variables: what an answer before gives is taken out
of that answer, what is secret comes from the environment."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, quote

from tollgate.base.text import unique
from tollgate.intake import literal
from tollgate.intake.answers import Given
from tollgate.intake.draft import IntakeError
from tollgate.intake.message import WORD, Message, Slot
from tollgate.record.redaction import AS_JSON, Redaction, is_secret

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_JWT = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*")
#: Where one is in a text. Each word is read once, while a search for the token itself would read on
#: to the end from each place where one could begin.
_WITH_JWT = re.compile(r"(?<![\w-])(?=[\w-]*eyJ[\w-])[\w-]+\.eyJ[\w-]+\.")
_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+/=-]{16,}")
_HEX = re.compile(r"(?=.*\d)[0-9a-fA-F]{12,}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")
#: A token of this length that no response contains may be a password.
_LONG = 20
_LONG_WORD = re.compile(rf"[\w.~+/=-]{{{_LONG},}}")
#: What a text sets in quotes, as scripts do, and JSON within them: `login(password: "...")`.
_SET = re.compile(r"""(?<![\w.-])([\w.-]{1,99})(?:\\*["'])?\s*[:=]\s*\\*(?:"{3}|["'](?!\\*["']))""")
#: A text of this length in a request was not equal to one in an earlier response by chance.
_NO_CHANCE = 16
#: Characters of one that stands in many answers and paths.
_SHORT = 3
_CREDENTIALS = ("authorization", "proxy-authorization")
#: Of headers that say what is sent or wanted: a type may look as opaque as a token.
_TYPES = ("content-type", "accept")
#: Secrets that are looked for in values: some seconds. A hundred in 10,000 requests are a tenth.
_MOST_LOOKS = 50_000_000
#: Shorter values of secrets are not looked for inside of others.
_LEAST = 6
#: Characters of a variable's name that come of what is recorded: it may stand in many places.
_LONGEST_STEM = 80
#: What names in a path say that the segment behind them is the number of one thing.
_IDS = ("id", "uuid", "guid", "key", "slug", "code", "number", "token", "hash")


@dataclass
class Step:
    """A request of the recording, and what its answer gives. extractors: what later steps need of
    that, by the names of variables."""

    message: Message
    given: Sequence[Given]
    label: str = ""
    extractors: dict[str, Given] = field(default_factory=dict)


class Variables:
    """prefix: of the environment's variables. secrets: what each of these holds."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._values: dict[str, str] = {}
        self._longest_first: list[tuple[str, str]] = []
        self._left = _MOST_LOOKS
        self._within = Redaction()  # knows what is secret within other values
        self.secrets: dict[str, str] = {}
        self.remarks: list[str] = []

    @property
    def to_set(self) -> list[str]:
        """What the user has to do before a run, one line each."""
        return [f"export {name} before a run: {words}" for name, words in self.secrets.items()]

    def secret(self, title: str, value: str, words: str, where: str = "") -> str:
        """The reference to a variable of the environment that holds a value. where: as of a Slot,
        in which it stands from now on."""
        stem = f"{self._prefix}_{title}"[:_LONGEST_STEM]
        # In no other alphabet: neither a shell nor CI has such variables.
        stem = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_").upper()
        if stem[:1].isdigit():
            stem = f"_{stem}"
        name = unique(stem, lambda other: self._values.get(other, value) != value)
        if name not in self._values and len(value) >= _LEAST:
            insort(self._longest_first, (name, value), key=_shortness)
        self._values[name] = value
        self.secrets.setdefault(name, words)
        return _reference(name, where)

    def put(self, steps: Sequence[Step]) -> None:
        """Put variables into all requests, in their order."""
        offered: dict[str, list[tuple[Step, Given]]] = {}
        sent: set[str] = set()
        for step in steps:
            for slot in step.message.slots():
                self._put_one(step, slot, offered, sent)
            sent.update(slot.value for slot in step.message.slots())
            for offer in step.given:
                if offer.value not in sent:
                    offered.setdefault(offer.value, []).append((step, offer))
        for step in steps:
            self._hide(step)

    def _known(self, longest: int) -> list[tuple[str, str]]:
        """Variables whose values may be inside of a text, and these values: the longest first, for
        one may be a part of another. longest: the length of the text. Raises IntakeError."""
        first = bisect_left(self._longest_first, -longest, key=_shortness)
        variables = self._longest_first[first:]
        self._left -= len(variables)
        if self._left < 0:
            raise IntakeError(
                f"the recording has too many values that may be secret ({len(self._values):,}) for "
                "its length: record a shorter visit"
            )
        return variables

    def _put_one(
        self, step: Step, slot: Slot, offered: dict[str, list[tuple[Step, Given]]], sent: set[str]
    ) -> None:
        offers = offered.get(slot.value, [])
        places = (it for it in offers if _is_meant(*it, slot))
        rest = slot.value
        for _, value in self._known(len(rest)):
            rest = rest.replace(value, "")
        if place := next(places, None):
            variable = literal.reference(_variable(*place))
            is_plain = quote(slot.value, safe="") == slot.value
            slot.put(variable if is_plain else _encoded(variable, slot.where))
        elif slot.where == "path" and (ids := [it for it, offer in offers if _is_id(offer)]):
            self.remarks.append(
                f"{step.label} sends a short value of its path as it was recorded, for what "
                f"{ids[0].label} gave may have been the same by chance: check it"
            )
        elif slot.value and not rest:
            pass  # what is secret in one place is hidden in all others at the end
        elif words := _secret(replace(slot, value=rest)):
            self._put_secret(slot, words[0], f"{words[1]} of {step.label}")
        elif rest == slot.value and _is_made(slot.value) and slot.value not in sent:
            self.remarks.append(
                f"{step.label} sends a value that looks generated ({slot.where}"
                f"{f' {slot.name}' if slot.name else ''}), and no answer before gives it: check it"
            )

    def _put_secret(self, slot: Slot, title: str, words: str) -> None:
        def hidden(value: str) -> str:
            return _encoded(self.secret(title, value, words), slot.where)

        self._within.text(slot.value)
        self._within.settings(_parsed(slot.value))
        if slot.where == "path":
            slot.put(_hidden_in_path(slot.value, hidden))
        else:
            slot.put(self.secret(title, slot.value, words, slot.where))

    def _hide(self, step: Step) -> None:
        """What is secret in one place is so in all others."""
        message = step.message
        body = message.body if isinstance(message.body, str) else ""
        texts = "\n".join([body, *(slot.value for slot in message.slots())])
        for name, value in [it for it in self._known(len(texts)) if it[1] in texts]:
            for slot in message.slots():
                if value in slot.value:
                    slot.put(slot.value.replace(value, _reference(name, slot.where)))
            if isinstance(message.body, str):
                message.body = message.body.replace(value, _reference(name))
        for slot in message.slots():
            if self._within.hide(slot.value) != slot.value:
                words = f"a value of {step.label}"
                slot.put(self.secret(slot.name, slot.value, words, slot.where))


def _shortness(variable: tuple[str, str]) -> int:
    return -len(variable[1])


def _reference(name: str, where: str = "") -> str:
    """To a variable of the environment, as JMeter has it."""
    return _encoded(literal.reference(f"__P({name}{AS_JSON * (where == 'json')})"), where)


def _encoded(reference: str, where: str) -> str:
    function = {"path": "__urlencode", "query": "__urlencode", "xml": "__escapeXml"}.get(where)
    return literal.reference(f"{function}({reference})") if function else reference


def _variable(step: Step, value: Given) -> str:
    """The variable into which a step takes a value out of its answer."""
    stem = re.sub(r"\W+", "_", f"{step.label}_{value.name}"[:_LONGEST_STEM]).strip("_").lower()
    others = step.extractors
    name = unique(stem, lambda other: others.get(other, value).extractor != value.extractor)
    step.extractors[name] = value
    return name


def extractors(step: Step) -> dict[str, Any]:
    """As taurus.yml has them."""
    by_kind: dict[str, Any] = {}
    for name, value in step.extractors.items():
        kind, how = value.extractor
        by_kind.setdefault(kind, {})[name] = how
    return by_kind


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _is_made(value: str) -> bool:
    """Whether a value looks as if a program had made it up."""
    if _DATE.fullmatch(value):
        return False
    return any(it.fullmatch(value) for it in (_UUID, _JWT, _TOKEN, _HEX))


def _is_meant(step: Step, offer: Given, slot: Slot) -> bool:
    """Whether a request sends what an answer has given, and not by chance the same."""
    if _is_made(offer.value) or len(offer.value) >= _NO_CHANCE:
        return True
    name, own, is_path = _plain(offer.name), _plain(slot.name), slot.where == "path"
    is_id = _is_id(offer) if is_path else name == "id"
    if is_path and is_id and not _is_common(offer.value, len(step.given)):
        return True
    things = [name] if is_path else []
    if is_id:
        # The thing of `{"order": {"id": 7}}`, of `{"orderId": 7}`, and of an answer to `/orders`.
        words = [it for it in step.message.segments if WORD.fullmatch(it)]
        things += [_plain(offer.around), *(_plain(it) for it in words[-1:])]
        things += [name.removesuffix(end) for end in _IDS]
    is_same = not is_path and name == own
    own = own if is_path else own.removesuffix("id")
    return is_same or (own != "" and _singular(own) in map(_singular, things))


def _is_id(offer: Given) -> bool:
    return _plain(offer.name).endswith(_IDS)


def _is_common(value: str, count: int) -> bool:
    """Whether a value may be like one of so many by chance: a word, or a small number."""
    is_word = value.isalpha() and value.islower()
    return is_word or len(value) <= _SHORT or (value.isdigit() and 10 ** (len(value) - 1) < count)


def _singular(name: str) -> str:
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


def _secret(slot: Slot) -> tuple[str, str] | None:
    """(the end of the variable's name, what it holds) of a value that is secret."""
    if slot.where == "header" and slot.name.lower() in _CREDENTIALS:
        return _of_credentials(slot)
    if slot.where == "header" and slot.name.lower() in _TYPES:
        return None
    if slot.where == "path":
        is_hidden = _hidden_in_path(slot.value, lambda _: "") != slot.value
        return ("path", "a part of the path") if is_hidden else None
    named = [it for it in (slot.name, *slot.around) if is_secret(it)]
    if not (named or _is_opaque(slot.value) or holds_secret(slot.value)):
        return None
    # What stands beside a value as its name may be any text.
    called = next(filter(WORD.fullmatch, named), slot.name)
    places = {"header": "the header", "query": "the parameter", "form": "the field"}
    return called or "value", f"{places.get(slot.where, 'the field')} {called}".strip()


def _hidden_in_path(segment: str, hide: Callable[[str], str]) -> str:
    """A segment of a path with what is secret in it hidden, such as the number of the session in
    `cart;jsessionid=0A1B`. What stands around that says where the path leads."""

    def hidden(part: re.Match[str]) -> str:
        name, _, value = part[0].partition("=")
        if value and not _is_opaque(name) and (is_secret(name) or _is_opaque(value)):
            return f"{name}={hide(value)}"
        return hide(part[0]) if _is_opaque(name) or _is_opaque(part[0]) else part[0]

    return re.sub("[^;:,]+", hidden, segment)


def holds_secret(text: str) -> bool:
    """Whether a text names a secret that is in it, or has a word that could be one."""
    return _names_secret(text) or any(map(_is_opaque, _LONG_WORD.findall(text)))


def is_secret_itself(name: str) -> bool:
    """Whether a name holds a secret, or could be one."""
    return _names_secret(name) or any(map(_is_no_name, _LONG_WORD.findall(name)))


def _names_secret(text: str) -> bool:
    is_set = any(is_secret(it[1]) for it in _SET.finditer(text))
    return is_set or Redaction().text(text) != text


def _is_no_name(word: str) -> bool:
    """Whether a word is opaque also without what makes a name of words look so: capitals and
    separators between them, and numbers behind them, as in `shipping_address_line_1`."""
    plain = re.sub(r"[\W_]+(\d{1,3}(?![^\W_]))?", "", word)
    plain = re.sub("[A-Z](?=[a-z]{2})", "a", plain)
    return _is_opaque(word) and (bool(_WITH_JWT.search(word)) or _looks_random(plain))


def _parsed(text: str) -> Any:
    """What a text says that is JSON, or the query of a URL."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return dict(parse_qsl(text.partition("?")[2]))


def _is_opaque(value: str) -> bool:
    is_long = len(value) >= _LONG and not _UUID.fullmatch(value)
    return bool(_WITH_JWT.search(value)) or (is_long and _looks_random(value))


def _of_credentials(slot: Slot) -> tuple[str, str]:
    scheme = slot.scheme.strip().lower()
    if scheme == "basic":
        return scheme, "base64 of USER:PASSWORD for the header Authorization"
    return scheme or slot.name, f"the {scheme or 'whole'} value of the header {slot.name}"


def _looks_random(value: str) -> bool:
    """Whether letters and digits follow each other as in no word."""
    kinds = re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "0", value)))
    changes = sum(one != other for one, other in pairwise(kinds))
    return bool(_TOKEN.fullmatch(value)) and changes >= len(value) / 5
