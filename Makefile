# Short names for what CONTRIBUTING.md says; they run in the active environment.


.PHONY: check install format format-check lint types imports test docs examples
.PHONY: bench bench-ours bench-page bench-micro bench-soak bench-baseline

check: format-check lint types imports test

install:
	python -m pip install -e '.[dev]'

format:
	python -m ruff format .
	python -m ruff check --fix .

format-check:
	python -m ruff format --check .

lint:
	python -m ruff check .

types:
	python -m mypy
	python -m pyright --pythonpath "$$(python -c 'import sys; print(sys.executable)')"

imports:
	lint-imports --no-cache

test:
	python -m pytest

docs:
	python -m pytest tests/test_docs.py

examples:
	python -m promptsections render examples/support_bot/prompt.yaml --memory examples/support_bot/turn.json --budget 1200 --explain
	python examples/support_bot.py

bench:  # ours and other libraries, which it installs at first; minutes
	python -m benchmarks --peers

bench-ours:  # offline, without other libraries
	python -m benchmarks

bench-page:  # all of it, written into docs/explanation/how-fast.md
	python -m benchmarks --peers --page

bench-micro:
	python -m pytest benchmarks/micro --benchmark-enable --benchmark-timer=time.process_time \
		--benchmark-columns=median,iqr,rounds --benchmark-sort=name

bench-soak:  # minutes, and about a gigabyte
	python -m benchmarks.soak 1000 500

bench-baseline:  # after a change that is meant to take more or less work
	python -m benchmarks.baseline --update
