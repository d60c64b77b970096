"""Benchmarks of promptsections; `python -m benchmarks` runs them, on Linux or macOS.

`workload` has the texts, `subjects` what runs in this process, `peers` the other libraries;
`comparing`, `scenarios` and `soak` measure, `goals`, `tables`, `picture` and `page` show, and
`baseline` is what the tests hold us to. `agent_loop` and `micro` stand on their own.
"""
