// Writes arrivals.json: what JMeter 5.6.3's own classes schedule. Run it with JMeter's jars, in
// this folder (JMETER_HOME is an unpacked JMeter):
//   java -cp "$JMETER_HOME/lib/*:$JMETER_HOME/lib/ext/*" groovy.ui.GroovyMain arrivals.groovy
import groovy.json.JsonOutput
import org.apache.jmeter.threads.openmodel.ThreadScheduleProcessGenerator
import org.apache.jmeter.threads.openmodel.ThreadScheduleUtils
import java.lang.reflect.InvocationHandler
import java.lang.reflect.Proxy

// The timer's interfaces are visible inside their package only, hence the reflection.
def inside = { String name -> Class.forName("org.apache.jmeter.timers.poissonarrivals.$name") }
def provider = { String name, value ->
    Class type = inside(name)
    Proxy.newProxyInstance(type.classLoader, [type] as Class[],
        { proxy, method, args -> value } as InvocationHandler)
}

def timer = { long seed, double throughput, int period, long duration, int batch, int count ->
    def events = inside('ConstantPoissonProcessGenerator').constructors[0].newInstance(
        provider('ThroughputProvider', throughput / (double) period), batch, 500,
        provider('DurationProvider', duration), seed, false)
    [seed: seed, throughput: throughput, period_s: period, duration_s: duration,
     batch_size: batch, events: (1..count).collect { events.next() }]
}

def group = { String schedule, long seed ->
    def arrivals = new ThreadScheduleProcessGenerator(
        new Random(seed), ThreadScheduleUtils.ThreadSchedule(schedule))
    def events = []
    while (arrivals.hasNext()) { events << arrivals.nextDouble() }
    [schedule: schedule, seed: seed, duration_s: arrivals.totalDuration, events: events]
}

def refused = { String schedule ->
    try {
        ThreadScheduleUtils.ThreadSchedule(schedule)
    } catch (Exception ignored) {
        return schedule
    }
    throw new IllegalStateException("JMeter accepts: $schedule")
}

def golden = [
    timers: [
        timer(1, 10, 1, 5, 1, 50),
        timer(-7, 90, 60, 20, 1, 30),
        timer(42, 7.3, 1, 3, 1, 70),          // three windows and a part of the fourth
        timer(4294967295L, 100, 3600, 60, 1, 9),
        timer(9223372036854775807L, 5, 1, 4, 1, 20),
        timer(5, 10, 1, 4, 3, 60),            // batches, over the edge of a window
        timer(6, 1, 10, 7, 2, 9),
    ],
    groups: [
        group('rate(10/sec) random_arrivals(3 sec)', 1),
        group('rate(0) random_arrivals(4 s) rate(20/s)', 2),
        group('rate(20/s) random_arrivals(4 s) rate(0)', 3),
        group('rate(2/sec) random_arrivals(5 s) rate(9.5 per sec) random_arrivals(2 s)' +
              ' random_arrivals(1 s) rate(1/s) random_arrivals(500 ms)', -4),
        group('rate(600/min) random_arrivals(1 s) pause(2 s) random_arrivals(1 s)', 5),
        group('pause(1 s) rate(5/s) /* c */ random_arrivals(1 s 500 ms) // end\n' +
              ' pause(0.5 min)', 6),
        group('RATE(3600/h) Random_Arrivals(0.1 m) rate(86400/day) random_arrivals(.5 minutes)', 7),
        group('rate(7/s) rate(3/s) random_arrivals(2 s) rate(4/s) rate(8/s) random_arrivals(1 s)', 8),
        group('rate(4/sec) even_arrivals(2 s) rate(10/sec) even_arrivals(2 s) rate(1/sec)', 9),
        group('rate(0) even_arrivals(2 s) rate(6/sec) random_arrivals(1 s) even_arrivals(0)', 10),
        group('random_arrivals(2 s) rate(5/s) pause(1 s) rate(3/s) random_arrivals(1 s)', 11),
        group('rate(0/sec) random_arrivals(2.5 sec) rate(0/sec) rate(3.6/sec) random_arrivals(2.5 sec)' +
              ' rate(3.6/sec) rate(0.4/sec) random_arrivals(2.5 sec) rate(0.4/sec) pause(5 sec)', 21),
        group('7', 12),
        group('', 13),
    ],
    refused: ['rate(10)', 'rate(10/sec', 'rate(/sec)', 'burst(3 s)', 'random_arrivals(3)',
              'random_arrivals(3 weeks)', 'rate(-1/sec)', 'rate(1/sec) 5', 'pause()', '{}']
        .collect(refused),
]
new File('arrivals.json').text = JsonOutput.toJson(golden).replaceAll('\\},', '},\n') + '\n'
