# shellcheck shell=sh
# Finds the tools that the user installs, for an installation to source, and `tollgate doctor` to
# list. Sets `python` to the interpreter chosen: $PYTHON if that is set, python3 otherwise.

# In the locale `C`, which many a CI job has, Java finds no file whose name is not ASCII.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in C | POSIX) export LC_ALL=C.UTF-8 ;; esac

# Meant for another Python than the project's.
unset PYTHONPATH PYTHONHOME PYTHONWARNINGS PYTHONOPTIMIZE

python=${PYTHON:-python3}
missing=''

# require NAME COMMAND LEAST VERSION: notes NAME when VERSION (empty: not found) is below LEAST.
require() {
  if [ -z "$4" ]; then
    missing="$missing
  $1 $3 or later: no \`$2\` that runs on PATH"
  elif [ "$(printf '%s\n%s\n' "$3" "$4" | sort -t . -k 1,1n -k 2,2n | head -n 1)" != "$3" ]; then
    missing="$missing
  $1 $3 or later: \`$2\` is version $4"
  fi
}

# The first version number in the output of a command, or nothing if it prints none. Maven
# colours its answer even in a pipe. Java, and so Maven, first tells which options it picked up
# from the environment, and those hold numbers of their own.
version_of() {
  colour=$(printf '\033')'\[[0-9;]*m'
  { "$@" 2>&1 || true; } |
    sed -n "s/$colour//g; /^\(NOTE: \)*Picked up /d
      s/^[^0-9]*\([0-9][0-9]*\(\.[0-9][0-9]*\)*\).*/\1/p" | head -n 1
}

found() { command -v "$1" >/dev/null 2>&1; }

java_command() {
  if [ -n "${JAVA_HOME:-}" ]; then echo "$JAVA_HOME/bin/java"; else echo java; fi
}

# Each calls a command with NAME COMMAND LEAST VERSION of a prerequisite; VERSION is empty where the
# command isn't found or says none.
about_java() {
  java=$(java_command)
  "$1" Java "$java" 17 "$(found "$java" && version_of "$java" -version)"
}

about_maven() {
  "$1" Maven mvn 3.8 "$(found mvn && version_of mvn --version)"
}

for_each_prerequisite() {
  "$1" Node node 20 "$(found node && version_of node --version)"
  "$1" npm npm 8 "$(found npm && version_of npm --version)"
  about_java "$1"
  [ -n "${without_maven:-}" ] || about_maven "$1"
  "$1" Python "$python" 3.10 "$(found "$python" && version_of "$python" --version)"
}

# Says on one line what is missing, and ends with 1 then, of what one of the above is about.
check_one() {
  "$1" require
  [ -z "$missing" ] && return
  # shellcheck disable=SC2086
  echo $missing
  exit 1
}

# Where `without_maven` is set, JMeter is not made by Maven but taken as an archive.
check_prerequisites() {
  for_each_prerequisite require
  found "$python" && { "$python" -c 'import venv, ensurepip' 2>/dev/null || missing="$missing
  Python's venv module: \`$python -m venv\` lacks it (on Debian and Ubuntu: apt install python3-venv)"; }
  [ -z "$missing" ] && return
  echo "Tollgate needs these first:$missing" >&2
  exit 1
}
