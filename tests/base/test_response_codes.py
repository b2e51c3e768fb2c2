"""Names of response codes: those that Java and JMeter have, and what is made of them."""

import pytest

import jmx_text as jmx
import own_run
import support
from tollgate.base.response_codes import CLASSES, PREFIX, nearest, short_code
from tollgate.gather.evidence import EvidenceError
from tollgate.stats.counts import Counts

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


NEAREST = {
    "SocketTimeoutExeption": "SocketTimeoutException",
    "socketTimeoutException": "SocketTimeoutException",
    "SocketTimeout": "SocketTimeoutException",
    "OutOfMemoryException": "OutOfMemoryError",
    "MyOwnException": None,
    "": None,
}


@pytest.mark.parametrize("name", NEAREST)
def test_the_nearest_name_is_like_it_in_more_than_its_end(name):
    assert nearest(name) == NEAREST[name]


def test_every_known_name_is_a_class_of_java_or_of_jmeters_that_can_be_thrown(tmp_path):
    names = [f"{package}.{name}" for package, found in CLASSES.items() for name in found.split()]
    assert len(set(names)) == len(names)
    (tmp_path / "names").write_text("\n".join(names))
    script = tmp_path / "check.groovy"
    script.write_text(
        "new File(args[0]).eachLine { if (!Throwable.isAssignableFrom(Class.forName(it))) "
        "throw new Error(it) }"
    )
    lib = support.JMETER.parents[1] / "lib"
    jars = f"{lib}/*:{lib}/ext/*"
    done = support.run("java", "-cp", jars, "groovy.ui.GroovyMain", script, tmp_path / "names")
    assert done.returncode == 0, done.stdout + done.stderr


PLAN = jmx.plan(jmx.group(jmx.sampler("home")))
TIMED_OUT = own_run.rows("home", failed=50, code=f"{PREFIX}java.net.SocketTimeoutException")


@pytest.mark.parametrize("name", ["SocketTimeoutExeption", "java.net.SocketTimeoutException"])
def test_timeouts_pass_no_criterion_that_never_matches_them(tmp_path, name):
    with pytest.raises(EvidenceError, match="did you mean 'rcSocketTimeoutException'"):
        own_run.verdict_on(tmp_path, PLAN, TIMED_OUT, f"rc{name}>0")


@pytest.mark.parametrize("name", ["SocketTimeoutException", "*Timeout*"])
def test_timeouts_fail_a_criterion_that_matches_them(tmp_path, name):
    verdict = own_run.verdict_on(tmp_path, PLAN, TIMED_OUT, f"rc{name}>0")
    assert verdict.verdict == "FAIL"
