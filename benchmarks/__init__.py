"""Measures the service against limits that stand here too, and writes what it found into docs/performance.md.

Ratios, never assertions: a slow machine fails nothing. `python -m benchmarks --help` tells how to run it.
"""
