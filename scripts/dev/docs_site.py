"""What MkDocs reads otherwise than GitHub does, changed before it renders a page of docs/."""

import re
from pathlib import Path

from mkdocs.exceptions import PluginError

#: A link to a file of the repository that is not part of the site.
OUTSIDE = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)(#[^)]*)?\)")
#: What stands behind the language of a fenced block, such as the run whose output it is.
BEHIND_LANGUAGE = re.compile(r"^(```\w+) .*$", re.MULTILINE)


def on_page_markdown(markdown, *, page, config, **_):
    """Name a file outside of docs/ in place of a link to it, which the site would not have."""

    def named(link):
        text, path, _ = link.groups()
        target = (Path(page.file.abs_src_path).parent / path).resolve()
        if not target.exists():
            raise PluginError(f"{page.file.src_uri}: {path} is not there")
        name = target.relative_to(Path(config.docs_dir).parent).as_posix()
        return f"`{name}`" if text == name or text == target.name else f"{text} (`{name}`)"

    return OUTSIDE.sub(named, BEHIND_LANGUAGE.sub(r"\1", markdown))
