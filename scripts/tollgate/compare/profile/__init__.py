"""Why head is slower: what both sides' processes computed.

In: a folder of .cpuprofile files. Out: CPU per answered request by function, and what changed.
"""
