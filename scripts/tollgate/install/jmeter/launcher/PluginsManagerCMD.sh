#!/bin/sh
# Calls the Plugins Manager of this home: `PluginsManagerCMD.sh status`, `... install jpgc-casutg`.
# The script that the Plugins Manager would write itself splits a path that holds a space.
#
#   JVM_ARGS   anything for the JVM
set -eu

home=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

java=java
[ -n "${JAVA_HOME:-}" ] && [ -x "$JAVA_HOME/bin/java" ] && java=$JAVA_HOME/bin/java
# In the locale `C`, which many a CI job has, Java finds no file whose name is not ASCII.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in C | POSIX) export LC_ALL=C.UTF-8 ;; esac

# Word splitting is wanted: the variable holds several options.
# shellcheck disable=SC2086
exec "$java" -Djava.awt.headless=true ${JVM_ARGS:-} -jar "$(echo "$home"/lib/cmdrunner-*.jar)" \
  --tool org.jmeterplugins.repository.PluginManagerCMD "$@"
