"""The example agent runs offline, and prints what it did."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "goal_agent.py"


def test_the_goal_agent_plans_and_verifies() -> None:
    run = subprocess.run(
        [sys.executable, "-X", "utf8", str(EXAMPLE)], capture_output=True, encoding="utf-8"
    )

    assert (run.returncode, run.stderr) == (0, "")
    known, planned, calls, verified, _, context = run.stdout.split("\n", 5)
    assert known == "Releases are made by the build server at night."
    assert planned == "Test the parser; done when coverage of parser.py is above 0.9"
    assert calls == "(2 calls)"  # the first answer had no done_when
    assert verified == "It passes: coverage is 0.93."
    assert "<goal_definition>\nGoal: Ship version 1\n" in context
    assert "[SUCCESS] Test the parser\n  Outcome: 0.93\n" in context
    assert "of 500 tokens" in context
