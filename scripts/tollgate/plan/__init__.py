"""A .jmx as it will run.

In: a plan's file and the properties given to JMeter. Out: a Plan (thread groups, timers,
samplers), what a reader would point out in it, when it ends, whom it asks.
"""
