"""render.py FOLDER: the comment of each run below it as HTML, as JSON: {renderer: {run: HTML}}."""

import json
import sys
from pathlib import Path

import cmarkgfm
import comrak
from cmarkgfm.cmark import Options

EXTENSIONS = comrak.ExtensionOptions()
for name in ("autolink", "strikethrough", "table", "tagfilter", "tasklist"):
    setattr(EXTENSIONS, name, True)
RENDER = comrak.RenderOptions()
RENDER.unsafe_ = True  # GitLab's own sanitiser comes behind it

RENDERERS = {
    "cmark-gfm": lambda text: cmarkgfm.github_flavored_markdown_to_html(
        text, Options.CMARK_OPT_UNSAFE
    ),
    "comrak": lambda text: comrak.render_markdown(text, EXTENSIONS, render_options=RENDER),
}
FILES = [*Path(sys.argv[1]).glob("*/comment.md")]
print(
    json.dumps(
        {
            name: {file.parent.name: render(file.read_text(encoding="utf-8")) for file in FILES}
            for name, render in RENDERERS.items()
        }
    )
)
