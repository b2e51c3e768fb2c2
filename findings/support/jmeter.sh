# shellcheck shell=sh
# Sourced by findings about JMeter, not run: makes the folder $work, which goes at the end, lays Apache
# JMeter 5.6.3 out in $work/home, by Maven, and has `jmeter PLAN RESULTS [OPTIONS...]`, which runs a
# plan without a window.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/home/bin" "$work/home/lib/ext" "$work/home/lib/junit"
{
  echo '<project><modelVersion>4.0.0</modelVersion><groupId>findings</groupId>'
  echo '<artifactId>jmeter</artifactId><version>1</version><packaging>pom</packaging><dependencies>'
  for part in ApacheJMeter ApacheJMeter_core ApacheJMeter_http ApacheJMeter_components \
    ApacheJMeter_functions ApacheJMeter_java ApacheJMeter_config; do
    echo "<dependency><groupId>org.apache.jmeter</groupId><artifactId>$part</artifactId>"
    echo '<version>5.6.3</version></dependency>'
  done
  echo '</dependencies></project>'
} >"$work/pom.xml"
mvn -q -B -f "$work/pom.xml" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
  -DincludeScope=runtime -DoutputDirectory="$work/home/lib"
mv "$work/home/lib/ApacheJMeter-5.6.3.jar" "$work/home/bin/ApacheJMeter.jar"
mv "$work/home/lib/"ApacheJMeter_*.jar "$work/home/lib/ext/"
(cd "$work/home" && jar xf lib/ext/ApacheJMeter_config-5.6.3.jar bin)

jmeter() {
  plan=$1 results=$2
  shift 2
  timeout 120 java -Djava.awt.headless=true -jar "$work/home/bin/ApacheJMeter.jar" -n -t "$plan" -l "$results" \
    -j "$work/jmeter.log" -Jjmeter.save.saveservice.output_format=csv "$@" >"$work/jmeter.out" 2>&1 ||
    { cat "$work/jmeter.out" >&2 && exit 1; }
}

# plan BELOW_THE_THREAD_GROUP [TURNS]: a plan of one thread, on standard output.
plan() {
  cat <<PLAN
<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
<intProp name="ThreadGroup.num_threads">1</intProp><intProp name="ThreadGroup.ramp_time">0</intProp>
<stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp>
<stringProp name="LoopController.loops">${2:-1}</stringProp></elementProp></ThreadGroup>
<hashTree>$1</hashTree></hashTree></hashTree></jmeterTestPlan>
PLAN
}

# sampler NAME: a Debug Sampler, which succeeds at once.
sampler() {
  printf '%s' '<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="'"$1"'">' \
    '<boolProp name="displayJMeterProperties">false</boolProp>' \
    '<boolProp name="displayJMeterVariables">false</boolProp>' \
    '<boolProp name="displaySystemProperties">false</boolProp></DebugSampler><hashTree/>'
}
