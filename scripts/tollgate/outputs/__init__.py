"""A result for programs and people: JSON, JUnit, Markdown, console.

In: a Verdict or a Study. Out: its files with their JSON Schemas, and JMeter's dashboards.
"""
