"""The sections of a comparison on the page of its run.

In: a comparison and its samples. Out: values for comparison.html.jinja.
"""
