"""HTML pages: of a run, of a folder of runs.

In: a run's folder and its verdict. Out: index.html, in one file.
"""

from __future__ import annotations

from tollgate.pages.kit.assemble import PageError
from tollgate.pages.run.write import Judged

__all__ = ["Judged", "PageError"]
