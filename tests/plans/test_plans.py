"""What every plan and every fragment must be like, whoever adds one."""

import re
from pathlib import Path

import pytest

import support
from support import plan_files
from support.plan_files import ALL_FILES, FRAGMENT_FILES, OWN_FILES, PLAN_FILES, PROPERTY

every_file = pytest.mark.parametrize("path", ALL_FILES, ids=plan_files.id_of)
every_plan = pytest.mark.parametrize("path", PLAN_FILES, ids=plan_files.id_of)
every_fragment = pytest.mark.parametrize("path", FRAGMENT_FILES, ids=plan_files.id_of)

ADJUSTABLE = {
    *("HTTPSampler.domain", "HTTPSampler.port"),
    *("HTTPSampler.connect_timeout", "HTTPSampler.response_timeout"),
    *("ThreadGroup.num_threads", "ThreadGroup.duration"),
    *("OpenModelThreadGroup.schedule", "OpenModelThreadGroup.random_seed"),
    *("throughput", "duration", "randomSeed"),
    *("ConstantTimer.delay", "RandomTimer.range"),
}
# Variables that a plan sets for its fragments.
OF_THE_PLAN = {"litter"}
# Every block of the study names its port, and so which of several servers is asked; in a comparison
# it is the coin that chooses between two.
OF_THE_BLOCKS = {"target: HTTPSampler.port=${port}"}
OF_THE_COIN = {
    "base or head: HTTPSampler.domain=${__P(host_${coin},127.0.0.1)}",
    "base or head: HTTPSampler.port=${__P(port_${coin},3001)}",
}
#: Of a schedule whose period is a property.
OF_THE_ARRIVALS = {
    f"until the {label} is due: ConstantTimer.delay="
    "${__longSum(${TESTSTART.MS},${arrival},-${__time()})}"
    for label in ("sum", "search")
}
TIMEOUTS = ("HTTPSampler.connect_timeout", "HTTPSampler.response_timeout")
PATHS = ("filename", "IncludeController.includepath", "TestPlan.user_define_classpath")
LISTENERS = re.compile(r"(?m)ResultCollector|ResultSaver|Summari[sz]er|Listener$|Visualizer$")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder of what JMeter saves after it has loaded each file."""
    names = [path.name for path in ALL_FILES]
    assert len(set(names)) == len(names), "a plan and a fragment have the same file name"
    home = support.JMETER.parent.parent
    folder = tmp_path_factory.mktemp("saved")
    classes = ":".join([f"{home}/lib/*", f"{home}/lib/ext/*", f"{home}/bin/ApacheJMeter.jar"])
    done = support.run(
        *("java", f"-Djmeter.home={home}", "-cp", classes, "groovy.ui.GroovyMain"),
        *(Path(__file__).with_name("roundtrip.groovy"), folder, *ALL_FILES),
    )
    assert done.returncode == 0, done.stderr
    return folder


@every_file
def test_a_plan_comes_out_of_load_and_save_unchanged(saved, path):
    # But for the order of properties: byte by byte it is what JMeter's window saves (test_gui.py).
    assert plan_files.meaning(saved / path.name) == plan_files.meaning(path)


@every_file
def test_no_plan_has_a_listener(path):
    elements = plan_files.read(path).walk()
    assert [it.name for it in elements if LISTENERS.search(f"{it.kind}\n{it.gui}")] == []


@every_file
def test_no_plan_holds_an_absolute_path(path):
    elements = plan_files.read(path).walk()
    written = [element.props.get(name, "") for element in elements for name in PATHS]
    assert [text for text in written if re.match(r"[/\\~]|[A-Za-z]:|file:", text)] == []
    assert str(support.ROOT) not in path.read_text()


@every_file
def test_no_plan_names_a_host_but_loopback_as_the_default_of_a_property(path):
    for element in plan_files.read(path).walk():
        hosts = [text for text in element.texts if re.match(r"\$\{__P\(\w*host,", text)]
        domain = element.props.get("HTTPSampler.domain", "")
        if domain and f"{element.name}: HTTPSampler.domain={domain}" not in OF_THE_COIN:
            hosts.append(domain)
        for host in hosts:
            assert PROPERTY.fullmatch(host).group(1) == "127.0.0.1", element.name
        assert "://" not in element.props.get("HTTPSampler.path", ""), element.name


@every_file
def test_everything_adjustable_is_a_property_with_a_default(path):
    fixed = {
        f"{element.name}: {name}={value}"
        for element in plan_files.read(path).walk()
        for name, value in element.props.items()
        if name in ADJUSTABLE and value and not PROPERTY.search(value)
    }
    assert fixed - OF_THE_BLOCKS - OF_THE_COIN - OF_THE_ARRIVALS == set()


@every_file
def test_arrivals_are_the_same_in_each_run_because_no_seed_is_zero(path):
    for element in plan_files.read(path).walk():
        for seed in ("randomSeed", "OpenModelThreadGroup.random_seed"):
            if seed in element.props:
                assert int(PROPERTY.fullmatch(element.props[seed]).group(1)) != 0, element.name


@pytest.fixture
def samplers(path):
    """Those of a plan and of what it includes."""
    return plan_files.samplers(plan_files.read_with_includes(path))


def http(samplers):
    return [it for it in samplers if it.kind == "HTTPSamplerProxy"]


@every_plan
def test_every_sampler_has_a_timeout_for_connecting_and_one_for_the_answer(samplers):
    assert samplers
    for sampler in http(samplers):
        scope = [sampler, *(e for e in sampler.in_scope() if e.gui == "HttpDefaultsGui")]
        for timeout in TIMEOUTS:
            assert any(element.props.get(timeout) for element in scope), (sampler.name, timeout)


@every_plan
def test_every_sampler_checks_its_answer_and_keeps_its_connection(samplers):
    for sampler in http(samplers):
        asserted = [e for e in sampler.in_scope() if e.kind.endswith("Assertion")]
        looked_at = {e.props.get("Assertion.test_field") for e in asserted}
        assert looked_at - {"Assertion.response_code"}, sampler.name
        assert sampler.props["HTTPSampler.use_keepalive"] == "true", sampler.name


@every_plan
def test_every_process_that_a_plan_starts_has_a_timeout_and_must_end_well(samplers):
    for sampler in samplers:
        if sampler.kind == "SystemSampler":
            assert int(sampler.props["SystemSampler.timeout"]) > 0, sampler.name
            assert sampler.props["SystemSampler.checkReturnCode"] == "true", sampler.name
            assert sampler.props["SystemSampler.expectedReturnCode"] == "0", sampler.name


def test_stress_load_and_soak_differ_in_nothing_but_their_defaults_and_names():
    def shape(name):
        tree = plan_files.read(support.PLANS / f"{name}.jmx")
        return [(e.kind, e.name) for e in tree.walk() if e.kind not in ("file", "TestPlan")]

    assert shape("load") == shape("stress") == shape("soak")
    assert len(shape("stress")) == 2  # the arrivals, and what a visitor does in a file of its own


def test_each_process_of_base_and_head_is_asked_where_its_coin_says():
    tree = plan_files.read(support.PLANS / "compare.jmx")
    texts = " ".join(text for element in tree.walk() for text in element.texts)
    found = set(re.findall(r"\$\{__P\((\w+)_\$\{coin\},", texts))
    assert found == {"protocol", "host", "port"}


@every_plan
def test_every_thread_keeps_its_connection_for_as_long_as_its_user_stays(path):
    # But for the study, where an iteration is a block, which has connections of its own.
    kept = "false" if path.stem == "study" else "true"
    for group in plan_files.read(path).walk():
        if group.kind == "ThreadGroup":
            assert group.props["ThreadGroup.same_user_on_next_iteration"] == kept, group.name


def test_every_fragment_is_there_and_is_included_by_a_plan():
    included = {
        (path.parent / element.props["IncludeController.includepath"]).resolve()
        for path in OWN_FILES
        for element in plan_files.read(path).walk()
        if element.kind == "IncludeController"
    }
    assert included == {path.resolve() for path in {*OWN_FILES, *FRAGMENT_FILES} - {*PLAN_FILES}}


@every_fragment
def test_a_fragments_sampler_and_feed_have_its_name(path):
    assert [sampler.name for sampler in plan_files.samplers(plan_files.read(path))] == [path.stem]
    assert plan_files.feed_of(path).resolve() == support.ROOT / "data" / f"{path.stem}.csv"


@every_fragment
def test_a_feed_has_the_variables_that_its_fragment_uses_in_twenty_different_rows_or_more(path):
    rows = plan_files.rows_of(path)
    assert set(rows[0]) == plan_files.variables_used(path) - OF_THE_PLAN
    assert len({tuple(row.values()) for row in rows}) >= 20
    assert all(value for row in rows for value in row.values())
    assert all(None not in row for row in rows), "a row has more cells than the header"
