"""Bodies and answers that a recording has in files beside it, as Playwright keeps them."""

from __future__ import annotations

from urllib.parse import quote, urljoin

from tollgate.intake.har_entries import Entry
from tollgate.intake.reach import LARGEST, text_beside
from tollgate.intake.source import Source


class HarFiles:
    """Files in the folder of a recording, each read once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._texts: dict[str, str | None] = {}
        self._left = LARGEST

    def fill(self, entry: Entry) -> None:
        """Put texts in the places that name their files. What can't be read keeps the name."""
        post, content = entry.request.get("postData") or {}, entry.response.get("content") or {}
        for part in (post, content):
            if not part.get("_file") or (part is content and entry.is_static):
                continue
            text = self._text(part["_file"])
            if text is not None:
                part.update(text=text, _file=None)

    def _text(self, name: str) -> str | None:
        if name not in self._texts:
            uri = urljoin(self._source.uri, quote(name))
            try:
                text = text_beside(self._source.name, self._source.uri, uri)
            except (ValueError, RuntimeError):  # IntakeError, and what the path itself may raise
                text = None
            self._left -= len(text or "")
            self._texts[name] = text if self._left >= 0 else None
        return self._texts[name]
