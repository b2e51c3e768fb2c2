"""Where a service that others run is found. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Url:
    """text: as it was given. host: without the brackets of an IPv6 address."""

    text: str
    protocol: str
    host: str
    port: int


def read_url(name: str, text: str) -> Url:
    """name: of the setting. Raises ValueError, one line, for what is more or less than a protocol,
    a host and perhaps a port: what the plan asks begins at /, and names and passwords would stand
    in run.json."""
    example = "such as http://127.0.0.1:8080"
    if any(each.isspace() for each in text.strip()):
        raise ValueError(f"{name} is {shown(text)!r}: a URL has no blanks: write one {example}")
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as problem:
        raise ValueError(f"{name} is {shown(text)!r}: {problem}: write a URL {example}") from None
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        raise ValueError(f"{name} is {shown(text)!r}: write a URL {example}")
    if "@" in parts.netloc:
        raise ValueError(f"{name} holds a user's name or password: write a URL {example}")
    if parts.path not in ("", "/") or "?" in text or "#" in text:
        raise ValueError(
            f"{name} is {text!r}: the plan's paths begin at /, so write protocol, host and port "
            f"alone, {example}"
        )
    return Url(text.strip().rstrip("/"), parts.scheme, parts.hostname, port or PORTS[parts.scheme])


def shown(text: str) -> str:
    """The text as a message may say it: without what might be a password."""
    return text if "@" not in text else f"...@{text.rpartition('@')[2]}"
