"""`tollgate bisect` in a repository, and that it leaves nothing of its own."""

import support
from e2e.comparing import LIGHT, SHORT

#: Seconds that four comparisons may take on a slow machine, and builds.
WHOLE_S = 7200
#: Each comparison is decided at its first looks, at a pace that a busy machine keeps.
QUICK = (
    *(*SHORT, *LIGHT, "modules.compare.processes=2", "modules.verdict.missing-share=0.5"),
    "modules.compare.gates=typical",
)


def assert_nothing_kept(suite, tmp_path):
    """No process, no build and no word of a bisect is left."""
    assert support.ours() == []
    assert list((tmp_path / "cache").glob("tollgate/*")) == []
    assert not (suite / ".tollgate" / "bisect").exists()


def git_of(made):
    """Whatever of git a bisect must leave as it was; runs add to what is ignored."""
    asked = (
        ("for-each-ref",),
        ("symbolic-ref", "HEAD"),
        ("status", "--porcelain"),
        ("worktree", "list"),
        ("ls-files", "--stage", "--debug"),
    )
    return [made.git(*each) for each in asked], sorted((made.root / ".git").rglob("*"))
