import pytest

import support
from support import jmx_text as jmx
from support import own_run
from tollgate.gather.context import EvidenceError
from tollgate.stats.counts import Counts
from tollgate.stats.response_codes import NAMES, PREFIX, short_code

SHORT = {
    "200": "200",
    "v1.2": "v1.2",
    f"{PREFIX}java.net.SocketTimeoutException": "SocketTimeoutException",
    f"{PREFIX}java.lang.OutOfMemoryError": "OutOfMemoryError",
    f"{PREFIX}com.acme.Outer$Inner": "Inner",
    f"{PREFIX}com.acme.Outer$1": "Outer$1",
    f"{PREFIX}Unpacked": "Unpacked",
    "java.io.IOException": "IOException",
}


@pytest.mark.parametrize("code", SHORT)
def test_a_class_is_told_by_its_own_name(code):
    assert short_code(code) == SHORT[code]
    counts = Counts.of([0, 0], [1, 2], code=[0, 1], codes=("404", code), n=[3, 4])
    assert int(counts.n @ counts.code_mask(SHORT[code])) == 4


#: Where the classes of these names are.
PACKAGES = """
    java.io java.lang java.net java.net.http java.nio java.nio.channels java.nio.charset
    java.nio.file java.security java.security.cert java.sql java.util java.util.concurrent
    java.util.zip javax.crypto javax.naming javax.net.ssl javax.script javax.security.auth.login
    javax.security.sasl org.apache.http org.apache.http.auth org.apache.http.client
    org.apache.http.conn org.apache.http.conn.ssl org.apache.http.cookie
    org.apache.http.impl.auth org.apache.http.impl.client org.apache.http.impl.conn
    org.apache.http.impl.execchain org.apache.http.ssl org.apache.jmeter.protocol.http.parser
    org.ietf.jgss
"""


def test_every_known_name_is_a_class_of_java_or_of_jmeters_that_can_be_thrown(tmp_path):
    (tmp_path / "names").write_text("\n".join(NAMES))
    script = tmp_path / "check.groovy"
    script.write_text(
        "def found(name) { try { Class.forName(name) } "
        "catch (ClassNotFoundException e) { null } }\n"
        "new File(args[0]).eachLine { name -> "
        "def known = args[1..-1].collect { found(it + '.' + name) }.findAll(); "
        "if (!known || known.any { !Throwable.isAssignableFrom(it) }) throw new Error(name) }"
    )
    lib = support.JMETER.parents[1] / "lib"
    java = ("java", "-cp", f"{lib}/*:{lib}/ext/*", "groovy.ui.GroovyMain")
    done = support.run(*java, script, tmp_path / "names", *PACKAGES.split())
    assert done.returncode == 0, done.stdout + done.stderr


PLAN = jmx.plan(jmx.group(jmx.sampler("home")))
TIMED_OUT = own_run.rows("home", failed=50, code=f"{PREFIX}java.net.SocketTimeoutException")


@pytest.mark.parametrize("name", ["SocketTimeoutExeption", "java.net.SocketTimeoutException"])
def test_timeouts_pass_no_criterion_that_never_matches_them(tmp_path, name):
    with pytest.raises(EvidenceError, match="did you mean 'rcSocketTimeoutException'"):
        own_run.verdict_on(tmp_path, PLAN, TIMED_OUT, f"rc{name}>0")


@pytest.mark.parametrize("name", ["SocketTimeoutException", "*Timeout*"])
def test_timeouts_fail_a_criterion_that_matches_them(tmp_path, name):
    assert own_run.verdict_on(tmp_path, PLAN, TIMED_OUT, f"rc{name}>0").verdict == "FAIL"
