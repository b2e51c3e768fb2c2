"""What the CI systems run, read out of their files: each job's commands with their environment."""

import json
from dataclasses import dataclass, field

import yaml

import support

GITHUB = support.ROOT / ".github" / "workflows" / "perf.yml"
PREPARE = support.ROOT / ".github" / "actions" / "prepare" / "action.yml"
GITLAB = support.ROOT / ".ci" / "gitlab-ci.yml"
JENKINS = support.ROOT / ".ci" / "Jenkinsfile"


@dataclass(frozen=True)
class Command:
    """A line that a job gives to its shell, with what its file adds to the environment."""

    text: str
    env: dict[str, str] = field(default_factory=dict)


def workflow():
    return yaml.safe_load(GITHUB.read_text())


def gitlab():
    return yaml.safe_load(GITLAB.read_text())


def jenkins_calls(path=JENKINS):
    """Every call in a Jenkinsfile, by Groovy's own parser, whose words a ValueError has."""
    parser = support.ROOT / "tests" / "ci" / "parse_jenkinsfile.groovy"
    jars = f"{support.JMETER.parent.parent}/lib/*"
    done = support.run("java", "-cp", jars, "groovy.ui.GroovyMain", parser, path)
    if done.returncode:
        raise ValueError(done.stderr)
    return json.loads(done.stdout)


def of_tollgate(text):
    """Whether it is one of the project's commands, rather than the CI system's own affair."""
    return str(text).startswith("./scripts/")


def github_commands():
    """By job."""
    return {
        name: Command(step["run"], step.get("env", {}))
        for name, job in workflow()["jobs"].items()
        for step in job["steps"]
        if of_tollgate(step.get("run", ""))
    }


def gitlab_commands():
    """By job. GitLab's own variables are for everything that a job runs."""
    return {
        name: Command(line, job.get("variables", {}))
        for name, job in gitlab().items()
        if isinstance(job, dict)
        for line in job.get("script", [])
        if of_tollgate(line)
    }


def jenkins_commands(calls):
    """By stage, without their environment."""
    return {
        around.removeprefix("stage "): call["arguments"][0]
        for call in calls
        if call["name"] == "sh" and call["arguments"] and of_tollgate(call["arguments"][0])
        for around in call["inside"]
        if around.startswith("stage ")
    }
