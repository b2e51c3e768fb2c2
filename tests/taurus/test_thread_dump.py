"""Which threads of a dump are inside a sampler."""

from tollgate.taurus.thread_dump import sampling

THREAD = """"{name}" #45 prio=5 os_prio=0 cpu=5.33ms elapsed=8.13s tid=0x00007f nid=0x338f runnable
   java.lang.Thread.State: RUNNABLE
{frames}
"""
AT = "\tat org.apache.jmeter.{}(Source.java:1)"
SAMPLING = AT.format("threads.JMeterThread.doSampling")
RUNNING = AT.format("threads.JMeterThread.run")


def thread(name, *frames):
    return THREAD.format(name=name, frames="\n".join([*frames, RUNNING]))


def test_threads_in_a_sampler_wait_for_an_answer_and_others_do_not():
    dump = "\n".join(
        [
            thread('they "said" 1-2', AT.format("protocol.http.sampler.HTTPHC4Impl"), SAMPLING),
            thread("timed 1-3", AT.format("threads.JMeterThread.delay")),
            thread("thinks 1-4", AT.format("sampler.TestAction.pause"), SAMPLING),
            thread("home 2-1", SAMPLING),
            thread("UDP Listener"),
            "JNI global refs: 14, weak refs: 0",
        ]
    )
    assert list(sampling(dump)) == ['they "said" 1-2', "home 2-1"]
