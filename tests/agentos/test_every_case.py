"""Every recorded call of AgentOS is held against the library somewhere; this says where."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from agentos_cases import read

TESTS = Path(__file__).parents[1]

DATA = {
    "agentos/cases.jsonl",
    "elements/agentos.jsonl",
    "preferences.jsonl",
    "render_cache/cases.jsonl",
    "tools/manifest.jsonl",
}
"""Files with recorded calls."""

COVERED_BY = {
    "apply_token_budget": "agentos/test_agentos_budgets.py",
    "assemble_memory": "agentos/test_agentos_memory.py",
    "cache_key": "agentos/test_cache_key.py",
    "compaction": "agentos/test_histories.py",
    "estimate_token_count": "agentos/test_counts.py",
    "evaluate_criteria": "elements/test_criteria.py",
    "format_memory_trace": "agentos/test_traces.py",
    "history_manager": "agentos/test_histories.py",
    "message_tokens": "agentos/test_counts.py",
    "normalize_format": "test_preferences.py",
    "normalize_verbosity": "test_preferences.py",
    "profile_router": "agentos/test_profile_router.py",
    "select_elements": "elements/test_selection.py",
    "summary_chain_collapse": "agentos/test_histories.py",
    "template": "agentos/test_forms.py",
    "tool_definition": "agentos/test_counts.py",
    "tool_manifest": "tools/test_manifest.py",
    "tool_manifest_via_argument": "tools/test_manifest.py",
    "truncate_messages": "agentos/test_histories.py",
    "validate": "agentos/test_validation.py",
}
"""Function → the tests that run its recorded calls; those of the cache's keys stand in
`render_cache/test_leaks.py`, without a function's name."""


def test_every_recorded_call_is_there_once() -> None:
    ids = Counter(case.id for file in sorted(DATA) for case in read(TESTS / file))
    assert ids == Counter({f"agentos-{number:04}": 1 for number in range(1, 261)})


def test_every_function_has_tests_that_exist() -> None:
    functions = {case.function for file in DATA for case in read(TESTS / file)} - {""}
    assert functions == set(COVERED_BY)
    for function, file in COVERED_BY.items():
        tests = (TESTS / file).read_text(encoding="utf-8")
        own = file.startswith("agentos/")
        assert not own or f'of("{function}")' in tests or f"# {function}" in tests, function
