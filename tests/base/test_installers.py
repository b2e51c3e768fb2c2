"""Why installers failed, from what npm 10.9.9, 11.21.2 and 12.2.2, pnpm 10, Yarn 1.22.22 and 4.18.1
printed."""

import pytest

from tollgate.base.installers import reason

SCRIPT = "\n> shop@1.0.0 install\n> make\n\ngyp: no compiler here\n"
NPM_SCRIPT = f"""{SCRIPT}npm error code 7
npm error path /shop
npm error command failed
npm error command sh -c make
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log
"""
NPM_LOCK = """npm error code EUSAGE
npm error
npm error `npm ci` can only install packages when your package.json and lock file are in sync.
npm error
npm error Missing: is-number@7.0.0 from lock file
npm error
npm error Usage:
npm error npm ci
"""
NPM_VERSION = """npm warn cli npm v12.2.2 does not support Node.js v20.20.2.
npm error code ETARGET
npm error notarget No matching version found for is-number@7.0.99.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log
"""
PNPM_LOCK = """ ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"

Note that in CI environments this setting is true by default.
"""
YARN_1 = """yarn install v1.22.22
warning package.json: No license field
[1/4] Resolving packages...
error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.
info Visit the site for documentation about this command.
"""
YARN_4_LOCK = """➤ YN0000: · Yarn 4.18.1
➤ YN0000: ┌ Post-resolution validation
➤ YN0000: │ @@ -1,0 +1,20 @@
➤ YN0028: │ +__metadata:
➤ YN0028: │ +  version: 10
➤ YN0000: │
➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.
➤ YN0000: └ Completed
"""
YARN_4 = """➤ YN0000: ┌ Resolution step
➤ YN0082: │ is-number@npm:7.0.99: No candidates found
➤ YN0000: └ Completed
"""


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        (NPM_SCRIPT, "gyp: no compiler here"),
        (NPM_SCRIPT.removeprefix(SCRIPT), "command failed"),
        (f"{SCRIPT} ELIFECYCLE  Command failed with exit code 7.\n", "gyp: no compiler here"),
        (f"{SCRIPT}error Command failed with exit code 7.\n", "gyp: no compiler here"),
        (NPM_LOCK, NPM_LOCK.splitlines()[2].removeprefix("npm error ")),
        (NPM_LOCK.replace("npm error", "npm ERR!"), NPM_LOCK.splitlines()[2][len("npm error ") :]),
        (NPM_VERSION, "notarget No matching version found for is-number@7.0.99."),
        (PNPM_LOCK, 'Cannot install with "frozen-lockfile"'),
        (YARN_1, YARN_1.splitlines()[3].removeprefix("error ")),
        (YARN_4_LOCK, YARN_4_LOCK.splitlines()[-2][len("➤ YN0028: │ ") :]),
        (YARN_4, "is-number@npm:7.0.99: No candidates found"),
        ("npm error code E404\nnpm error 404 no such package\n", "404 no such package"),
        ("npm ERR! code EUSAGE\n", "npm ERR! code EUSAGE"),
        ("killed\n", "killed"),
        ("", "it said nothing"),
    ],
)
def test_the_reason_is_the_line_that_explains_most(printed, why):
    assert reason(printed) == why
