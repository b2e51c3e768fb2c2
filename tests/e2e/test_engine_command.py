"""`scripts/engine`: a host that offers itself, to whoever has the key and to nobody else."""

import signal
import socket
import ssl
import stat

import pytest

import support
from support.project_copy import copy_project
from tollgate.engines import machine

KEY = machine.KEYSTORE.relative_to(support.ROOT)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A checkout that has no key yet."""
    return copy_project(tmp_path_factory.mktemp("engine") / "tollgate")


def engine(root, *words):
    return support.run(root / "scripts" / "engine", *words)


def refusal(done):
    assert done.returncode == 1, done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def key(root):
    """The key of the checkout, without which there is no engine."""
    assert KEY.name in refusal(engine(root, "1/2"))
    made = engine(root, "keystore")
    assert made.returncode == 0, made.stderr
    return root / KEY


@pytest.fixture(scope="module")
def started(key):
    """An engine that waits for work, and its first port."""
    root = key.parents[1]
    port = next(it for it in iter(support.free_port, None) if not support.listens(it + 1))
    said = root / "engine.out"
    process = support.start(root / "scripts" / "engine", "2/3", "--port", port, output=said)
    support.wait_while_it_lives(
        process, said, lambda: support.listens(port) and support.listens(port + 1), "it listens"
    )
    yield process, port
    support.end(process)


def pem(key, folder):
    """The key and its certificate, as Python's TLS reads them."""
    found = folder / "key.pem"
    words = ("openssl", "pkcs12", "-in", key, "-out", found, "-nodes")
    done = support.run(*words, "-passin", f"pass:{machine.PASSWORD}")
    assert done.returncode == 0, done.stderr
    return found


def greeted(port, trusted, shown):
    """Whether the engine lets a caller in that shows this key, and is the one that is trusted."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(trusted)
    if shown:
        context.load_cert_chain(shown)
    with (
        socket.create_connection(("127.0.0.1", port), support.PATIENCE) as plain,
        context.wrap_socket(plain) as safe,
    ):
        # How RMI says hello; it is answered by ProtocolAck.
        safe.sendall(b"JRMI\x00\x02K")
        return safe.recv(1) == b"N"


def test_the_key_is_private_and_never_replaced(root, key):
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    content = key.read_bytes()
    assert str(key) in refusal(engine(root, "keystore"))
    assert key.read_bytes() == content


@pytest.mark.parametrize("words", ["4/3", "1/2 --plans none", "1/2 --address 192.0.2.1"])
@pytest.mark.usefixtures("key")
def test_what_can_be_no_engine_is_told_in_one_line(root, words):
    assert words.split()[-1] in refusal(engine(root, *words.split()))


def test_only_who_has_the_key_is_let_in_and_a_signal_ends_it(started, key, tmp_path):
    process, port = started
    ours = pem(key, tmp_path)
    other = tmp_path / "other" / "engines.keystore"
    other.parent.mkdir()
    machine.make_keystore(other)
    theirs = pem(other, other.parent)
    for each in (port, port + 1):
        assert greeted(each, ours, ours)
        for shown in (theirs, None):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                greeted(each, ours, shown)
        with pytest.raises(ssl.SSLCertVerificationError):
            greeted(each, theirs, ours)
    process.send_signal(signal.SIGTERM)
    assert process.wait(support.PATIENCE) == 143
    assert [support.listens(it) for it in (port, port + 1)] == [False, False]
