"""The published claims.

In: samples and CPU times of cells in random blocks. Out: figures, curves, answers to claims.
"""
