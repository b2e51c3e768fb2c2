"""A run's folder to the facts that judge needs.

In: run.json, kpi.jtl, workers.jsonl, compare.json of a folder. Out: facts, made once; refusals.
"""
