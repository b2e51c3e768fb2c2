"""What PM2's workers did, and who took the CPU.

In: workers.jsonl, the kernel's counters. Out: processes, their exits and restarts, what they
needed, and what others took.
"""
