"""HTML pages from Jinja2 templates: of a run, of a folder of runs.

In: a run's folder and its verdict. Out: index.html, in one file.
"""

from __future__ import annotations

from tollgate.pages.kit.assemble import PageError
from tollgate.pages.run import write as run_page
from tollgate.pages.run.write import Judged
from tollgate.pages.runs import build as runs_page

__all__ = ["Judged", "PageError", "run_page", "runs_page"]
