"""HTML pages from Jinja2 templates: of a run, of a folder of runs.

In: a run's folder and its verdict. Out: index.html, in one file.
"""
