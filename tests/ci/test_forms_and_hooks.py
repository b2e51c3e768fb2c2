"""The forms of issues, and the hooks of pre-commit."""

import re
import sys
from pathlib import Path

import pytest
import yaml

import support
from support import ROOT

CHECK_SCHEMA = Path(sys.executable).with_name("check-jsonschema")
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
#: The schema of each, which check-jsonschema brings along.
SCHEMAS = {
    "bug.yml": "vendor.github-issue-forms",
    "idea.yml": "vendor.github-issue-forms",
    "config.yml": "vendor.github-issue-config",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_form_is_what_its_schema_wants(name):
    done = support.run(CHECK_SCHEMA, "--builtin-schema", SCHEMAS[name], FORMS / name)
    assert done.returncode == 0, done.stdout


def test_a_bug_comes_with_what_doctor_says_and_a_vulnerability_does_not_come_as_an_issue():
    form = yaml.safe_load((FORMS / "bug.yml").read_text())["body"]
    required = [
        it["attributes"]["label"] for it in form if it.get("validations", {}).get("required")
    ]
    assert "The output of `tollgate doctor`" in required
    config = yaml.safe_load((FORMS / "config.yml").read_text())
    assert config["blank_issues_enabled"] is False
    [link] = config["contact_links"]
    assert link["url"].endswith("/security/policy")
    assert (ROOT / "SECURITY.md").is_file()


def test_the_hooks_of_pre_commit_are_linters_of_scripts_test():
    lint = re.search(r"^lint\(\) \{\n(.*?)^\}", (ROOT / "scripts/test").read_text(), re.M | re.S)[1]
    stages = {line.strip().partition("stage ")[2] for line in lint.splitlines()}
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    [repository] = config["repos"]
    assert repository["repo"] == "local"
    hooks = {f"{hook['id']} {hook['entry']}" for hook in repository["hooks"]}
    assert hooks - stages == set()
