"""One run with secrets given in every way: the service gets them, and the run's folder does not."""

from pathlib import Path

import pytest

from e2e.bzt_run import Run
from support.http_server import Handler, serving
from tollgate.record.redaction import MARK

#: Given as an argument, in a file of settings, among Java's options, and too short to be looked for
#: by itself; one is written unlike itself in JSON and in XML.
TOKEN, PASSWORD, OF_JAVA, SHORT = "S3CRET-of-the-api", 'p"ss & <word>', "S3CRET-of-java", "zq7x"
SECRETS = (TOKEN, PASSWORD, "ss & <word>", "ss &amp; &lt;word", OF_JAVA, SHORT, "S3CRET")
AT = "modules.jmeter.properties"
#: Sends two of them as headers and one as its body, `rate_key` times.
PLAN = Path(__file__).with_name("login.jmx")


class Service(Handler):
    """Refuses everything, so that JMeter writes down the whole of what it asked."""

    def respond(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.add((self.headers["Authorization"], self.headers["X-Key"], body.decode()))
        self.answer(403)


@pytest.fixture(scope="module")
def service():
    with serving(Service, got=set()) as server:
        yield server


@pytest.fixture(scope="module")
def ran(service, tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "tmp").mkdir()
    (folder / "their.jmx").write_text(PLAN.read_text())
    given = {"port": service.server_port, "db_password": PASSWORD, "pin.key": SHORT}
    own = {
        "PLAN": str(folder / "their.jmx"),
        "CRITERIA": "fail of log in>0%",
        "JVM_ARGS": f"-Dtheirs.password={OF_JAVA}",
        "TMPDIR": str(folder / "tmp"),
    }
    config = {"scenarios": {"plan": {"properties": given}}}
    return Run(folder, f"{AT}.api_token={TOKEN}", config=config, alias="plan", **own).end()


def test_the_service_gets_what_the_plan_sends(ran, service):
    assert ran.code == 3, ran.output
    assert service.got == {(f"Bearer {TOKEN}", SHORT, PASSWORD)}


def test_no_file_of_the_run_holds_a_secret(ran):
    files = [path for path in ran.folder.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    kinds = {"run.json", "verdict.json", "index.html", "bzt.log", "jmeter.log", "error.jtl"}
    assert kinds | {"effective.yml", "merged.json", "over.json", "jmeter-bzt.properties"} <= names
    held = [(it.name, word) for it in files for word in SECRETS if word.encode() in it.read_bytes()]
    assert held == []


def test_nothing_that_was_printed_and_nothing_left_elsewhere_holds_one(ran):
    assert [it for it in SECRETS if it in ran.output] == []
    assert [*(ran.folder.parent / "tmp").rglob("*.properties")] == []


def test_what_is_no_secret_is_told_as_ever(ran):
    record = ran.json("run.json")
    told = record["executions"][0]["properties"]
    assert {told[it] for it in ("api_token", "db_password", "pin.key")} == {MARK}
    assert told["jmeterengine.force.system.exit"] == "true"
    assert f"{AT}.api_token={MARK}" in record["arguments"]
    assert record["environment"]["variables"]["JVM_ARGS"] == f"-Dtheirs.password={MARK}"
    assert "api_token=&lt;redacted&gt;" in ran.page
    assert ran.json("over.json")["scenarios"]["plan"]["properties"]


def test_the_run_is_judged_again_as_it_was(ran):
    again = ran.judged_again()
    assert again.returncode == ran.code
    assert again.stdout.strip()
    assert again.stdout.strip() in ran.output


def test_a_load_that_depends_on_a_secret_is_refused_before_it(service, tmp_path):
    (tmp_path / "their.jmx").write_text(PLAN.read_text())
    before = len(service.got)
    settings = (f"{AT}.rate_key=3", f"{AT}.port={service.server_port}", f"{AT}.api_token=unheard")
    refused = Run(tmp_path, *settings, alias="plan", PLAN=str(tmp_path / "their.jmx")).end()
    assert refused.code == 1
    assert "the property rate_key, " in refused.error()
    assert not (refused.folder / "kpi.jtl").exists()
    assert len(service.got) == before
