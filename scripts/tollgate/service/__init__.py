"""A service of a user's own, and the plan of each kind of run of it.

In: what taurus.yml says of a service, and the fragments that it names.
Out: labelled elements of JMeter, and a whole .jmx for each shape of load.
"""
