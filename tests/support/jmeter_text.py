"""What JMeter makes of a text, read off JMeter 5.6.3's FunctionParser, CompoundVariable and
ReplaceStringWithFunctions, and apart from what Tollgate has of its own."""

import html
from dataclasses import dataclass, field
from urllib.parse import quote_plus

FUNCTIONS = {
    "__P": lambda values, name, default="1": values.get(name, default),
    "__char": lambda _, *numbers: "".join(chr(int(it)) for it in numbers),
    "__urlencode": lambda _, text: quote_plus(text),
    "__escapeXml": lambda _, text: html.escape(text),
    "__longSum": lambda _, *numbers: str(sum(map(int, numbers))),
}


@dataclass
class Evaluation:
    """values: of variables and properties. calls: the variables that were read, and the functions
    with their arguments."""

    values: dict = field(default_factory=dict)
    calls: list = field(default_factory=list)

    def of(self, text):
        """The text that JMeter works with in the place of a property of an element."""
        parts = self._parts(text)
        if len(parts) == 1 and isinstance(parts[0], str):
            return text
        return "".join(it if isinstance(it, str) else it[0] for it in parts)

    def _parts(self, text):
        """Texts, and tuples with what was evaluated."""
        parts, plain, before, at = [], "", " ", 0
        while at < len(text):
            char = text[at]
            at += 1
            if char == "\\":
                escaped = text[at : at + 1] or "\\"
                at += 1
                plain += escaped if escaped in "$,\\" else f"\\{escaped}"
                before = " "
            elif char == "{" and before == "$":
                parts += [plain[:-1]] * bool(plain[:-1])
                part, at = self._reference(text, at)
                parts.append(part)
                plain, before = "", " "
            else:
                plain, before = plain + char, char
        return [*parts, *([plain] if plain else [])] or [""]

    def _reference(self, text, at):
        name, before = "", " "
        while at < len(text):
            char = text[at]
            at += 1
            if char == "\\":
                name, before, at = name + (text[at : at + 1] or char), " ", at + 1
            elif char == "(" and before != " " and name.strip() in FUNCTIONS:
                arguments, at = self._arguments(text, at)
                rest = text[at:].lstrip(" ")
                assert rest.startswith("}"), f"JMeter expects }} in {text!r}"
                called = [self.of(it) for it in arguments]
                self.calls.append((name.strip(), *called))
                made = FUNCTIONS[name.strip()](self.values, *called)
                return (made,), len(text) - len(rest) + 1
            elif char == "}":
                self.calls.append((name,))
                return (self.values.get(name, f"${{{name}}}"),), at
            else:
                name, before = name + char, char
        return name, at

    @staticmethod
    def _arguments(text, at):
        found, argument, before, functions, brackets = [], "", " ", 0, 0
        while at < len(text):
            char = text[at]
            at += 1
            if char == "\\":
                argument, before, at = argument + text[at - 1 : at + 1], " ", at + 1
                continue
            if char == "," and not functions:
                found, argument = [*found, argument], ""
                continue
            if char == ")" and not functions and not brackets:
                return [*found, argument] if argument or found else [], at
            functions += (char == "{" and before == "$") - (char == "}" and functions > 0)
            brackets += ((char == "(") - (char == ")")) * (not functions)
            argument, before = argument + char, char
        return [*found, argument], at
