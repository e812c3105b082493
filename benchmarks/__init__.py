"""Benchmarks: counts and ratios, never seconds alone. Each is `python -m benchmarks.NAME`; its last line is JSON."""
