"""Benchmarks of promptsections; `python -m benchmarks` runs them."""
