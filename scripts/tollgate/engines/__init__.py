"""The machines that send a load together.

In: ENGINES, or the folders of shares that were run apart. Out: the engines' answers on what they
have and whether they live, the part that each sends, a record of each engine and one of all.
"""
