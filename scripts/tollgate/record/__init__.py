"""The record of a run.

In: what bzt is about to do. Out: run.json, sealed and without secrets, and the environment in it.
"""
