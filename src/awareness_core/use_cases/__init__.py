"""What a program can ask for, one module a purpose: load through the ports, decide in the pure core, write, answer.

Each function takes the ports first and the company second, opens the transaction it needs itself, and raises only
`AwarenessError`s. Use cases do not call one another.
"""
