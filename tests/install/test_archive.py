"""JMeter as one archive: from a file, a mirror or a release, by a checksum, or by Maven instead."""

import contextlib
import hashlib
import io
import re
import tarfile
import threading
import time
from urllib.response import addinfourl

import pytest

from support import packages
from support.http_server import Handler, serving
from support.packages import HOME, Package
from tollgate.install import archive
from tollgate.install.archive import ArchiveError, UnreachableError


class Files(Handler):
    """Serves the server's `files` by their path; a path in place of content is a redirection."""

    def respond(self):
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path.partition("?")[0])
        if isinstance(content, str):
            self.answer(302, Location=content)
        else:
            self.answer(200 if content else 404, content or b"gone")


@pytest.fixture
def server():
    with serving(Files, files={}, asked=[]) as started:
        started.url = f"http://127.0.0.1:{started.server_port}"
        yield started


@pytest.fixture
def package(tmp_path):
    return Package(tmp_path)


@pytest.fixture
def released(package, server):
    """The package, which names a repository, and the path of the archive in its release."""
    package.describe(f"Repository, {server.url}/owner/tollgate")
    package.path = f"/owner/tollgate/releases/download/v0.3.0/{package.name}"
    return package


def without_maven(package):
    (package.folder / "path" / "mvn").unlink()


@pytest.mark.parametrize("of", ["a file", "a folder", "a URL", "the URL of a folder"])
def test_jmeter_is_taken_from_an_archive_without_maven(package, server, of):
    server.files[f"/mirror/{package.name}"] = package.archive.read_bytes()
    source = {
        "a file": f"a mirror/{package.name}",  # from where the command is called
        "a folder": package.archive.parent,
        "a URL": f"{server.url}/mirror/{package.name}?token=hidden",
        "the URL of a folder": f"{server.url}/mirror/",
    }[of]
    without_maven(package)
    done = package.provide(source)
    assert done.returncode == 0, done.stderr
    assert (done.stderr.count("\n"), "hidden" in done.stderr) == (1, False)
    assert package.installed() == sorted(
        ["bin", "bin/jmeter", "lib", "lib/ext", "lib/ext/plugin.jar", "lib/junit"]
    )
    modes = [(package.home / it).stat().st_mode & 0o777 for it in HOME if not it.endswith("/")]
    assert modes == [0o755, 0o644]
    assert {it.name for it in package.tools.iterdir()} >= {package.home.name, "lock"}
    assert not list(package.tools.glob("jmeter-*.*.growing")) + list(package.tools.glob("*.log"))


def test_an_archive_of_another_checksum_is_refused_with_both_and_nothing_is_installed(package):
    expected = package.pin(b"the one of the release")
    real = hashlib.sha256(package.archive.read_bytes()).hexdigest()
    beside = package.archive.with_name(f"{package.name}.sha256")
    beside.write_text(f"{real}  {package.name}\n")  # whoever changed the one changed the other
    done = package.provide(package.archive)
    _, refused = done.stderr.splitlines()
    assert done.returncode == 1
    assert refused.startswith(
        f"tollgate: {package.home.name} can't be installed: {package.archive} has the SHA-256 "
        f"{real}, and {package.name} of this version has {expected}: nothing of it is installed; "
        "take the file from the release again"
    )
    assert list(package.tools.glob("*.growing/*")) == []


def test_without_an_option_jmeter_is_taken_from_the_release_of_the_packages_version(
    released, server
):
    server.files[released.path] = "/elsewhere/blob"  # as a host of releases does
    server.files["/elsewhere/blob"] = released.archive.read_bytes()
    without_maven(released)
    done = released.provide()
    assert (done.returncode, server.asked) == (0, [released.path, "/elsewhere/blob"])
    assert done.stderr == (
        f"tollgate: installing {released.home.name} in {released.tools} "
        f"from {server.url}{released.path}\n"
    )


def test_where_the_release_has_no_archive_maven_makes_jmeter_and_the_user_is_told(released, server):
    done = released.provide()
    assert (done.returncode, released.installed()) == (0, ["made-by"])
    told = f"{server.url}{released.path} can't be read: 404 Not Found; Maven makes JMeter instead"
    assert done.stderr.splitlines()[1:] == [f"tollgate: {told}"]


def test_where_there_is_neither_an_archive_nor_maven_both_are_named(released):
    without_maven(released)
    done = released.provide()
    assert done.returncode == 1
    assert "404 Not Found, and there is no Maven to make it by (Maven 3.8 or later: " in done.stderr
    assert "name the file of the release: tollgate install --from FILE" in done.stderr


def test_an_archive_of_the_release_that_was_changed_is_not_made_up_for_by_maven(released, server):
    server.files[released.path] = released.archive.read_bytes() + b"\0"
    done = released.provide()
    assert done.returncode == 1
    assert "has the SHA-256" in done.stderr


@pytest.mark.parametrize("url", [None, "Repository, {}/OWNER/tollgate", "Homepage, {}/a/b"])
def test_a_package_that_names_no_repository_needs_maven(package, server, url):
    package.describe(url and url.format(server.url))
    assert package.provide().returncode == 0
    assert (package.installed(), server.asked) == (["made-by"], [])


def test_a_package_that_names_no_repository_says_that_maven_is_missing(package):
    without_maven(package)
    done = package.provide()
    assert done.returncode == 1
    assert "Maven 3.8 or later: no `mvn` that runs on PATH" in done.stderr


def test_a_source_that_is_named_and_not_there_is_not_made_up_for_by_maven(package, server):
    for source, problem in {
        f"{server.url}/{package.name}": "can't be read: 404 Not Found",
        "http://127.0.0.1:1/x.tar": "can't be read: Connection refused",
        str(package.folder / "x.tar"): "is no file",
        str(package.folder): f"/{package.name} is no file",
    }.items():
        done = package.provide(source)
        assert done.returncode == 1
        assert problem in done.stderr
        assert "; name the file of the release: tollgate install --from FILE" in done.stderr


def test_a_source_without_a_name_is_not_made_up_for_by_maven(package):
    done = package.provide("")
    assert done.returncode == 1
    assert done.stderr.startswith("tollgate: --from names nothing: ")


def test_no_password_of_a_url_is_repeated(package):
    done = package.provide("http://me:secret@127.0.0.1/x.tar")
    assert (done.returncode, "secret" in done.stderr) == (1, False)
    assert "the URL holds a user's name or password" in done.stderr
    done = package.provide("http://me:secret[@127.0.0.1/x.tar")
    assert (done.returncode, "secret" in done.stderr) == (1, False)


def test_a_checksum_of_another_recipe_is_none(released, server):
    server.files[released.path] = released.archive.read_bytes()
    released.pin(released.archive.read_bytes(), "jmeter-5.6.3-0123456789.tar")
    assert (released.provide().returncode, released.installed()) == (0, ["made-by"])
    assert server.asked == []
    (released.home / "made-by").unlink()
    released.home.rmdir()
    done = released.provide(released.archive)
    assert f"no checksum of {released.name} is known" in done.stderr


def test_a_jmeter_that_is_there_is_left_alone(package):
    assert package.provide(package.archive).returncode == 0
    again = package.provide("elsewhere.tar")
    told = f"JMeter is in {package.home} already: elsewhere.tar is not read"
    assert (again.returncode, again.stderr) == (0, f"tollgate: {told}\n")


def test_the_checksum_is_of_the_jmeter_that_the_sources_make():
    """After a change of those: scripts/dev/jmeter-archive --pin FOLDER."""
    assert re.fullmatch("[0-9a-f]{64}", archive.pinned())


@contextlib.contextmanager
def answering(body, *, length=None, drip_s=0):
    """The URL of a server that sends these bytes, one by one if they drip, and says another
    length."""

    class Odd(Handler):
        def respond(self):
            self.send_response(200)
            self.send_header("Content-Length", str(length or len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            with contextlib.suppress(OSError):
                for at in range(0, len(body), 1 if drip_s else len(body)):
                    self.wfile.write(body[at:] if not drip_s else body[at : at + 1])
                    self.wfile.flush()
                    time.sleep(drip_s)
            self.close_connection = True

    with serving(Odd) as server:
        yield f"http://127.0.0.1:{server.server_port}/x.tar"


def test_an_answer_that_ends_early_is_no_archive(tmp_path):
    told = r"x.tar ended after 3 of 9 bytes$"
    with answering(b"abc", length=9) as url, pytest.raises(UnreachableError, match=told):
        archive.take(url, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_answer_without_end_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "DOWNLOAD_S", 0.2)
    told = r"took longer than 0.2 s$"
    with answering(bytes(99), drip_s=0.05) as url, pytest.raises(UnreachableError, match=told):
        archive.take(url, tmp_path)


def test_a_server_that_says_nothing_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "SILENCE_S", 0.2)
    told = r"can't be read: .*timed out$"
    with answering(bytes(9), drip_s=1) as url, pytest.raises(UnreachableError, match=told):
        archive.take(url, tmp_path)


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LIMIT", 100)
    (tmp_path / "large.tar").write_bytes(bytes(101))
    with pytest.raises(
        ArchiveError,
        match=r"large.tar has more than 100 bytes, and is not jmeter-.*: take the file",
    ):
        archive.take(str(tmp_path / "large.tar"), tmp_path)


def test_what_a_server_says_moves_no_cursor_and_ends_no_line(tmp_path):
    class Hostile(Handler):
        def respond(self):
            self.send_response(503, "a\x1b[2Jb\x9bc\rd")
            self.end_headers()

    told = r"/x.tar can't be read: 503 a\?\[2Jb\?c d$"
    with serving(Hostile) as server, pytest.raises(UnreachableError, match=told):
        archive.take(f"http://127.0.0.1:{server.server_port}/x.tar", tmp_path)


def test_a_redirection_to_what_says_no_length_is_read(monkeypatch, tmp_path):
    """As urllib answers by FTP."""
    answer = addinfourl(io.BufferedReader(io.BytesIO(b"abc")), {}, "ftp://127.0.0.1/x.tar")
    monkeypatch.setattr(archive, "urlopen", lambda *_, **__: answer)
    with pytest.raises(ArchiveError, match="has the SHA-256 ba7816bf"):
        archive.take("http://127.0.0.1/x.tar", tmp_path)


def test_a_full_disk_is_no_fault_of_the_source(monkeypatch, tmp_path):
    source = tmp_path / "x.tar"
    source.write_bytes(b"abc")
    full = io.BufferedWriter(io.FileIO("/dev/full", "w"))  # which fails as it is closed as well
    monkeypatch.setattr(archive.tempfile, "TemporaryFile", lambda **_: full)
    told = r"^jmeter-\S+ can't be kept in .*: No space left on device; make room, or set TOLL"
    with pytest.raises(ArchiveError, match=told) as refused:
        archive.take(str(source), tmp_path)
    assert not isinstance(refused.value, UnreachableError)


def test_an_installation_that_is_killed_leaves_nothing_and_the_next_one_is_whole(package):
    begun, goes_on = threading.Event(), threading.Event()

    class Slow(Handler):
        def respond(self):
            self.send_response(200)
            self.send_header("Content-Length", "9")
            self.end_headers()
            begun.set()
            goes_on.wait(30)

    with serving(Slow) as server:
        url = f"http://127.0.0.1:{server.server_port}/x.tar"
        with package.begin(url) as first:
            assert begun.wait(30)
            first.kill()  # what it started goes on, and the next one waits for that
        assert not package.home.exists()
        with package.begin(str(package.archive)) as second:
            assert "waiting for it" in second.stderr.readline()
            goes_on.set()
            assert second.wait(30) == 0
    assert "bin/jmeter" in package.installed()


def member(name, **how):
    made = tarfile.TarInfo(name)
    vars_of = {"type": tarfile.REGTYPE, **how}
    for key, value in vars_of.items():
        setattr(made, key, value)
    return made


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"/etc/passwd": "x"}, "'/etc/passwd' of .* is no file or folder below it"),
        ({"../x": "x"}, r"'\.\./x' of"),
        ({"lib/../../x": "x"}, r"'lib/\.\./\.\./x' of"),
        ({"a": member("a", type=tarfile.SYMTYPE, linkname="/")}, "'a' of"),
        ({"a": member("a", type=tarfile.LNKTYPE, linkname="b")}, "'a' of"),
        ({"a": member("a", type=tarfile.CHRTYPE)}, "'a' of"),
        ({"a": member("a", type=tarfile.FIFOTYPE)}, "'a' of"),
        ({"a": "x" * 600, "b": "x" * 600}, "holds more than 1000 bytes"),
        ({"a": "x", "a/b": "x"}, "can't be unpacked: "),
        ({"a": "x", "./a": "x"}, "can't be unpacked: "),
    ],
)
def test_what_is_not_plainly_within_the_folder_is_refused(tmp_path, monkeypatch, members, told):
    monkeypatch.setattr(archive, "LIMIT", 1000)
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(ArchiveError, match=told):
        archive.unpack(io.BytesIO(packages.tar(members)), inside)
    assert list(tmp_path.iterdir()) == [inside]


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b" + bytes(600)])
def test_what_is_no_archive_is_refused(tmp_path, content):
    with pytest.raises(ArchiveError, match="can't be unpacked"):
        archive.unpack(io.BytesIO(content), tmp_path)
