"""Where a service that others run is found. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Url:
    """host: a name or an address, an IPv6 one without brackets. text: as it was given."""

    protocol: str
    host: str
    port: int
    text: str = field(default="", compare=False)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:8080`, with the port in any case."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine, as far as its name says."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def properties(self) -> dict[str, str | int]:
        """What a plan gets as JMeter properties."""
        return {"protocol": self.protocol, "host": self.host, "port": self.port}


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
    # Nothing that JMeter or Taurus would evaluate.
    host = parts.hostname or ""
    if parts.scheme not in PORTS or not re.fullmatch(r"[\w.:%~-]+", host) or port == 0:
        raise ValueError(f"{name} is {shown(text)!r}: write a URL {example}")
    if "@" in parts.netloc:
        raise ValueError(f"{name} holds a user's name or password: write a URL {example}")
    if parts.path not in ("", "/") or "?" in text or "#" in text:
        raise ValueError(
            f"{name} is {text!r}: write protocol, host and port without a path, {example}"
        )
    text = text.strip().rstrip("/")
    return Url(parts.scheme, host, port or PORTS[parts.scheme], text)


def place_of(url: str) -> tuple[str, int] | None:
    """Host and port that a URL asks; None for what is none."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        return None


def origin_of(url: str) -> str | None:
    """Protocol, host and port of a URL by HTTP, such as `http://127.0.0.1:80`; None of others."""
    place, protocol = place_of(url), url.partition(":")[0].lower()
    return Url(protocol, *place).url if place and place[0] and protocol in PORTS else None


def shown(text: str) -> str:
    """The text as a message may say it: without what might be a password."""
    return text if "@" not in text else f"...@{text.rpartition('@')[2]}"
