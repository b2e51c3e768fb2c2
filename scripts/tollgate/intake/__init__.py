"""From what a team has to a service: an OpenAPI file, a recording of the browser, a JMeter plan.

In: an existing file or URL.
Out: a Draft: requests as taurus.yml has them, their data, and what was guessed or left out.
"""
