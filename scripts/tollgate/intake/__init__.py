"""From what a team has to a service: an OpenAPI file, a recording of the browser, a JMeter plan.

In: a file or a URL that somebody else wrote.
Out: a Draft: requests as taurus.yml has them, their data, and what was guessed or left out.
"""
