"""What is asked of a run.

In: criteria in Taurus's grammar. Out: Criterion objects that are known to fit the plan.
"""
