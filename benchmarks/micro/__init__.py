"""Micro-benchmarks of single parts: `make bench-micro`. The test suite runs each once, untimed."""
