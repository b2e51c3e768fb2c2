"""scripts/dev/jmeter-archive, with a JMeter of two files in place of Maven's."""

import hashlib
import os
import runpy
import tarfile

import pytest

import support
from tollgate.install import archive, assemble, tools

MAKE = """
mkdir -p bin lib/junit
echo jmeter >bin/jmeter
echo a jar >lib/a.jar
chmod 7{0} bin/jmeter
touch -d '{1} days ago' lib/a.jar lib
"""


@pytest.fixture
def make(tmp_path, monkeypatch, capsys):
    """Makes an archive; gives its bytes and what was printed."""
    monkeypatch.setattr(tools, "JMETER_ARCHIVE", tmp_path / "pin")
    tools.JMETER_ARCHIVE.touch()
    main = runpy.run_path(str(support.ROOT / "scripts" / "dev" / "jmeter-archive"))["main"]

    def run(*options, mode="55", days=0):
        script = MAKE.format(mode, days)
        monkeypatch.setattr(assemble, "BY_MAVEN", ("/bin/sh", "-c", script))
        main(*options, str(tmp_path / "dist"))
        return (tmp_path / "dist" / archive.name()).read_bytes(), capsys.readouterr().out

    return run


def test_an_archive_is_the_same_wherever_and_whenever_it_is_made(make, tmp_path):
    first, printed = make("--pin")
    assert printed == f"{hashlib.sha256(first).hexdigest()}  {archive.name()}\n"
    assert tools.JMETER_ARCHIVE.read_text() == printed
    before = os.umask(0o077)
    try:
        assert make(mode="00", days=3) == (first, printed)
    finally:
        os.umask(before)
    with tarfile.open(tmp_path / "dist" / archive.name()) as opened:
        members = [(it.name, it.mode, it.mtime, it.uid, it.uname) for it in opened]
    assert members == [
        *(("bin", 0o755, 0, 0, ""), ("bin/jmeter", 0o755, 0, 0, ""), ("lib", 0o755, 0, 0, "")),
        *(("lib/a.jar", 0o644, 0, 0, ""), ("lib/junit", 0o755, 0, 0, "")),
    ]


def test_an_archive_of_another_checksum_than_the_packages_is_told(make):
    with pytest.raises(SystemExit, match="pin has another checksum or name"):
        make()


def test_what_maven_says_is_told_where_it_fails(make):
    with pytest.raises(SystemExit, match="invalid date"):
        make(days="no such")


@pytest.mark.parametrize("words", [(), ("--pin",), ("a", "b"), ("a", "--pin"), ("--pim", "a")])
def test_what_is_not_a_call_is_told_how_to(words):
    main = runpy.run_path(str(support.ROOT / "scripts" / "dev" / "jmeter-archive"))["main"]
    with pytest.raises(SystemExit, match=r"scripts/dev/jmeter-archive --pin FOLDER"):
        main(*words)


def test_an_archive_that_is_made_is_one_that_is_taken(make, tmp_path):
    make("--pin")
    home = tmp_path / "home"
    home.mkdir()
    archive.take(str(tmp_path / "dist"), home)
    assert (home / "bin" / "jmeter").read_text() == "jmeter\n"
    assert (home / "lib" / "junit").is_dir()
