#!/bin/sh
# Hypothesis 6.170.15: a profile that is registered with other settings takes the rest from the
# profile in force, which on CI systems (CI=true) is one with derandomize=True.
#
# Guessed: `register_profile("any machine", deadline=None)` differs from the defaults by its deadline
# alone, so that property tests try new examples in each run of CI. Seen, derandomize of the profile:
#
#   without CI: False
#   with CI=true: True
#
# So in CI, of all places, each run tries the same examples.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install hypothesis==6.170.15

cat >"$work/profile.py" <<'PYTHON'
import hypothesis

hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")
print(hypothesis.settings.default.derandomize)
PYTHON
cd "$work"
without=$(env -u CI -u GITHUB_ACTIONS -u GITLAB_CI -u TF_BUILD -u TEAMCITY_VERSION venv/bin/python profile.py)
with=$(CI=true venv/bin/python profile.py)
echo "without CI: $without"
echo "with CI=true: $with"
[ "$without" = False ] && [ "$with" = True ]
