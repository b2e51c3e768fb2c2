"""A result for programs and people: JSON, JUnit, Markdown, console, HTML pages.

In: a Verdict or a Study, and the folder of the run. Out: its files, JSON Schemas and dashboards.
"""
