"""The program `awareness`: it reads settings, chooses adapters, and starts what it was asked to start.

Nothing here decides a rule; that is the core's. Nothing here translates for a protocol; that is the adapters'.
"""
