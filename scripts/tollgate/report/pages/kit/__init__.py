"""What all pages are made of: the frame, macros, charts and bars.

In: a template and the values that it takes. Out: one HTML file that needs no other.
"""
