"""What a server answers, whatever it is: read within bounds, and led nowhere else."""

from __future__ import annotations

import http.client
import urllib.request
from urllib.error import HTTPError

_PIECE = 1 << 20


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for the answer that it is, instead of asking whoever it names."""

    def redirect_request(self, *_: object) -> None:
        """Follow none."""


def body_of(answer: http.client.HTTPResponse | HTTPError, most: int) -> bytes:
    """Its first bytes, in pieces: a server may promise more than it sends. Raises OSError where
    less comes than it says."""
    pieces = []
    while most > 0 and (piece := answer.read(min(most, _PIECE))):
        pieces.append(piece)
        most -= len(piece)
    if most > 0 and answer.length:
        raise OSError("its answer ends early")
    return b"".join(pieces)
