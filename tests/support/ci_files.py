"""What the CI systems run, read out of their files: each job's commands with their environment."""

import json
import re
from dataclasses import dataclass, field

import yaml

import support

GITHUB = support.ROOT / ".github" / "workflows" / "perf.yml"
ACTIONS = support.ROOT / ".github" / "actions"
ACTION, COMMENT = (
    ACTIONS / "tollgate" / "action.yml",
    ACTIONS / "tollgate" / "comment" / "action.yml",
)
RUN = ACTION.with_name("run")
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


def action(path=ACTION):
    return yaml.safe_load(path.read_text())


def github_commands():
    """By job: of the action, the environment of its script."""
    commands = {}
    for name, job in workflow()["jobs"].items():
        for step in job["steps"]:
            given = step.get("with", {})
            if of_tollgate(step.get("run", "")):
                commands[name] = Command(step["run"], job.get("env", {}))
            elif step.get("uses") == "./.github/actions/tollgate" and given.get("kind") != "none":
                commands[name] = Command("run", job.get("env", {}) | script_variables(given))
    return commands


def script_variables(given):
    """The environment of the action's script, for these inputs."""
    inputs = action()["inputs"]
    (step,) = (it for it in action()["runs"]["steps"] if it.get("id") == "run")
    names = {
        name: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", it)[1]
        for name, it in step["env"].items()
    }
    return {name: given.get(of, inputs[of]["default"]) for name, of in names.items()}


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
