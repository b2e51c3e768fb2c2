"""Real comparisons, in a copy of the project with a history."""

from e2e.bzt_run import Run
from support.git_repos import SERVER, Repo
from support.project_copy import copy_project

#: A load of seconds, judged by limits so wide that a busy machine decides as well.
SHORT = (
    "modules.jmeter.properties.warmup=2",
    "modules.compare.budget=60",
    "modules.compare.first=10",
    "modules.compare.every=10",
    "modules.compare.effect=90%",
    "modules.compare.typical-effect=90%",
    "modules.compare.error-effect=20%",
)
#: What two slow cores can send beside whatever else they do, and answer.
LIGHT = ("modules.jmeter.properties.period=50",)
#: Where the sums are not what it is about.
CHEAP_SUMS = ("modules.compare.labels=search", "modules.jmeter.properties.sum_data=../data/sum.csv")
BROKEN = "throw new RangeError('this base is broken');\n"


def project_with_history(folder):
    """On the branch `feature`: its commits are on top of main, HEAD~1 dies at start, the tag
    `unlocked` has a lock file that npm refuses."""
    root = copy_project(folder / "tollgate")
    made = Repo(root)
    made.git("init", "--quiet", "--initial-branch=main")
    server = (root / SERVER).read_text()
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "all of it")
    lock = (root / "package-lock.json").read_text()
    made.commit("{", "package-lock.json")
    made.git("tag", "unlocked")
    made.git("reset", "--quiet", "--hard", "HEAD~1")
    made.git("switch", "--quiet", "--create", "feature")
    made.commit(BROKEN)
    made.commit(server)
    assert (root / "package-lock.json").read_text() == lock
    return made


def cache_of(project):
    """The user's, where a base stands while it is compared."""
    return project.root.parent / "cache"


def assert_nothing_left(run, project):
    """No process, port or changed plan, no check-out, and no entry or file in git."""
    assert run.left_behind() == []
    assert not (project.root / ".tollgate" / "base").is_symlink()
    assert list(cache_of(project).glob("tollgate/*")) == []
    assert project.git("worktree", "list").count("\n") == 0
    assert project.git("status", "--porcelain") == ""
    assert project.git("rev-parse", "--abbrev-ref", "HEAD") == "feature"


def begin(project, folder, *options, **env):
    """A comparison in that project, with its run in this folder."""
    cache = {"XDG_CACHE_HOME": str(cache_of(project))}
    return Run(folder, *options, alias="compare", root=project.root, **cache, **env)
