"""Services that are not ours, each as its owner has it: a git repository, or an environment.

Their packages are installed from the lock files beside their sources, in the folder of the test.
"""

import contextlib
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile

import support
from support.git_repos import Repo

SOURCES = support.ROOT / "tests" / "services"
#: Packages in the registry, and versions of each.
PACKAGES, VERSIONS = 20, 40
#: Seconds that an installation may take.
INSTALLING = 600


def shop(folder):
    """A repository of the shop: Express 4 in the first commit, Express 5 in the second."""
    made = _repo(folder)
    _copy(SOURCES / "shop", folder, ("shop.js", "package.json", "package-lock.json"))
    return _two_commits(made, SOURCES / "shop" / "express-5")


def registry(folder):
    """A repository of a registry for packages: verdaccio 5 in the first commit, 6 in the second."""
    made = _repo(folder)
    _copy(SOURCES / "verdaccio", folder, ("config.yaml", "package.json", "package-lock.json"))
    for number in range(1, PACKAGES + 1):
        _publish(folder / "storage", f"library-{number}")
    return _two_commits(made, SOURCES / "verdaccio" / "6")


def httpbin(folder):
    """The command gunicorn of an environment that has httpbin."""
    _call(sys.executable, "-m", "venv", folder)
    lock = SOURCES / "httpbin" / "requirements.lock"
    _call(folder / "bin" / "pip", "install", "--quiet", "--require-hashes", "--requirement", lock)
    return folder / "bin" / "gunicorn"


@contextlib.contextmanager
def serving(repo, script="shop.js"):
    """The port on which a script of the repository answers."""
    port = support.free_port()
    env = support.environment(PORT=str(port))
    process = subprocess.Popen(["node", script], cwd=repo.root, env=env)
    try:
        support.wait_until(lambda: support.listens(port), f"{script} listens")
        yield port
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def serving_httpbin(folder, many, *options):
    """The URLs of so many processes of httpbin, which is installed into a folder."""
    command, ports = httpbin(folder), [support.free_port() for _ in range(many)]
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    ran = [
        subprocess.Popen(
            [str(command), "--workers=1", *options, f"--bind=127.0.0.1:{it}", "httpbin:app"],
            **quiet,
        )
        for it in ports
    ]
    try:
        for port in ports:
            support.wait_until(lambda port=port: support.listens(port), "httpbin listens")
        yield [f"http://127.0.0.1:{it}" for it in ports]
    finally:
        for each in ran:
            each.terminate()
        ends = [each.wait() for each in ran]
    assert ends == [0] * many, "somebody else ended one"


def install(repo):
    """Install the packages of what is checked out."""
    _call("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=repo.root)


def slow_shop(repo):
    """Commit a middleware that adds 5 % to the work of each request."""
    _copy(SOURCES, repo.root, ["count-visits.js"])
    path = repo.root / "shop.js"
    mounted = "app.use(express.json());\n"
    used = f"app.use(require('./count-visits'));\n{mounted}"
    path.write_text(path.read_text().replace(mounted, used))
    _commit(repo, "Count visits")


def slow_registry(repo):
    """The same, as a plugin of verdaccio."""
    plugin = repo.root / "plugins" / "verdaccio-visits"
    plugin.mkdir(parents=True)
    _copy(SOURCES, repo.root, ["count-visits.js"])
    shutil.copy(SOURCES / "verdaccio" / "count-visits-plugin.js", plugin / "index.js")
    (plugin / "package.json").write_text('{"name": "verdaccio-visits", "version": "1.0.0"}\n')
    with (repo.root / "config.yaml").open("a") as config:
        config.write("plugins: ./plugins\nmiddlewares:\n  visits:\n    enabled: true\n")
    _commit(repo, "Count visits")


def _repo(folder):
    folder.mkdir(parents=True)
    made = Repo(folder)
    made.git("init", "--quiet", "--initial-branch=main")
    (folder / ".gitignore").write_text("node_modules\nhtpasswd\n.verdaccio-db.json\n")
    return made


def _two_commits(repo, newer):
    _commit(repo, "The older")
    _copy(newer, repo.root, ("package.json", "package-lock.json"))
    _commit(repo, "The newer")
    return repo


def _commit(repo, message):
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", message)


def _copy(source, folder, names):
    for name in names:
        shutil.copy(source / name, folder / name)


def _publish(storage, name):
    """Write a package as verdaccio stores it."""
    place = storage / name
    place.mkdir(parents=True)
    versions, dates = {}, {}
    for number in range(VERSIONS):
        version = f"1.{number}.0"
        manifest = {"name": name, "version": version, "description": f"The library {name}"}
        archive = f"{name}-{version}.tgz"
        content = _archive(json.dumps(manifest))
        (place / archive).write_bytes(content)
        dist = {
            "shasum": hashlib.sha1(content).hexdigest(),
            "tarball": f"http://127.0.0.1/{name}/-/{archive}",
        }
        versions[version] = {**manifest, "_id": f"{name}@{version}", "dist": dist}
        dates[version] = f"2026-01-01T00:{number:02}:00.000Z"
    newest = f"1.{VERSIONS - 1}.0"
    times = {"created": dates["1.0.0"], "modified": dates[newest], **dates}
    described = {
        **{"name": name, "versions": versions, "time": times, "users": {}},
        **{"dist-tags": {"latest": newest}, "_uplinks": {}, "_distfiles": {}, "_attachments": {}},
        **{"_rev": "1-0", "_id": name, "readme": ""},
    }
    (place / "package.json").write_text(json.dumps(described, indent=1))


def _archive(manifest):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as made:
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(manifest)
        made.addfile(entry, io.BytesIO(manifest.encode()))
    return content.getvalue()


def _call(*command, **options):
    done = support.run(*command, timeout=INSTALLING, **options)
    assert done.returncode == 0, done.stderr
