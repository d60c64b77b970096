# Short names for what CONTRIBUTING.md says; they run in the active environment.


.PHONY: check install format format-check lint types imports test docs examples benchmarks

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
	python examples/support_bot.py

benchmarks:
	python -m benchmarks
