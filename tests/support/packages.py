"""A copy of what installs tools, with sources, a checksum and a release of a test's own."""

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import support

PACKAGE = support.ROOT / "scripts" / "tollgate"
HOME = {"bin/jmeter": "#!/bin/sh\n", "lib/ext/plugin.jar": "a jar", "lib/junit/": None}
#: What the installation calls of the system, beside what it asks for versions.
SHELL = ("sh", "env", "head", "mkdir", "sed", "sort")
VERSIONS = {"node": "v20.1.0", "npm": "10.0.0", "java": 'openjdk version "17"', "mvn": "Maven 3.9"}
NAMES = """
from tollgate.install import archive, tools
print(archive.name())
print(tools.node_folder())
"""
INSTALL = """
import sys
from tollgate.install import assemble
try:
    assemble.provide(*sys.argv[1:])
except assemble.InstallError as problem:
    sys.exit(f"tollgate: {problem}")
"""


def tar(members):
    """The bytes of an archive: text by name, None for a folder, or a TarInfo of another kind."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as opened:
        for name, text in members.items():
            member = text if isinstance(text, tarfile.TarInfo) else tarfile.TarInfo(name)
            content = text.encode() if isinstance(text, str) else b""
            member.size = member.size or len(content)
            if text is None:
                member.type = tarfile.DIRTYPE
            member.mode = 0o775 if "bin/" in name else 0o664
            opened.addfile(member, io.BytesIO(content.ljust(member.size)))
    return written.getvalue()


class Package:
    """Installs into a cache of its own, where PM2 is, on a machine with few commands."""

    def __init__(self, folder):
        self.folder = folder
        self.tools = folder / "cache" / "tools"
        self.install = folder / "site" / "tollgate" / "install"
        for name in ("base", "install"):
            shutil.copytree(PACKAGE / name, self.install.with_name(name))
        shutil.copy(PACKAGE / "__init__.py", self.install.parent)
        (self.install / "jmeter" / "lay-out").write_text("echo Maven >made-by; echo that >&2\n")
        done = self.run(NAMES)
        self.name, node = done.stdout.splitlines()
        Path(node).mkdir(parents=True)
        self.describe(None)
        for name, version in VERSIONS.items():
            support.script(folder / "path" / name, f"echo '{version}'")
        for name in SHELL:
            (folder / "path" / name).symlink_to(shutil.which(name))
        self.archive = folder / "a mirror" / self.name
        self.archive.parent.mkdir()
        self.archive.write_bytes(tar(HOME))
        self.pin(self.archive.read_bytes())

    @property
    def home(self):
        return self.tools / self.name.removesuffix(".tar")

    def describe(self, project_url):
        """Write what pip would of version 0.3.0."""
        described = self.folder / "site" / "tollgate-0.3.0.dist-info" / "METADATA"
        described.parent.mkdir(exist_ok=True)
        text = "Metadata-Version: 2.1\nName: tollgate\nVersion: 0.3.0\n"
        described.write_text(text + (f"Project-URL: {project_url}\n" if project_url else ""))

    def pin(self, content, name=None):
        checksum = hashlib.sha256(content).hexdigest()
        (self.install / "jmeter-archive.sha256").write_text(f"{checksum}  {name or self.name}\n")
        return checksum

    def run(self, code, *words):
        command = (sys.executable, "-c", code, *words)
        return support.run(*command, env=self._environment(), cwd=self.folder)

    def begin(self, source):
        """An installation under way, whose errors are a pipe."""
        return subprocess.Popen(
            [sys.executable, "-c", INSTALL, source],
            **{"env": self._environment(), "cwd": self.folder},
            **{"stderr": subprocess.PIPE, "text": True},
        )

    def _environment(self):
        path = self.folder / "path"
        env = {"PYTHONPATH": str(self.folder / "site"), "PATH": str(path), "HOME": "/nowhere"}
        return env | {"TOLLGATE_HOME": str(self.tools.parent), "PYTHONDONTWRITEBYTECODE": "1"}

    def provide(self, *source):
        """What an installation says and its exit code; it leaves either all of JMeter or none."""
        done = self.run(INSTALL, *source)
        assert self.home.exists() == (done.returncode == 0), done.stderr
        assert "Traceback" not in done.stderr
        return done

    def installed(self):
        """The files of the JMeter that was installed."""
        return sorted(it.relative_to(self.home).as_posix() for it in self.home.rglob("*"))
