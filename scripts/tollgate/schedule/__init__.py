"""When each request is due, and when it was sent; one engine's share of that.

In: a Plan and the samples of its thread groups, or ENGINE=k/N. Out: lateness, its cause, what was
not sent; the properties and rows of a share.
"""
