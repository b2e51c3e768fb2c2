"""kpi.jtl, read once. The only room with SQL.

In: a JTL as JMeter wrote it. Out: a Store of typed samples, and what it answers: exact counts and
arrays; a bad line is refused with its number.
"""
