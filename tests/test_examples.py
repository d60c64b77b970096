"""The examples run, and print what the README says they do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "support_bot.py"


@pytest.fixture(scope="module")
def printed() -> str:
    run = subprocess.run(
        [sys.executable, "-X", "utf8", str(EXAMPLE)], capture_output=True, encoding="utf-8"
    )
    assert run.stderr == ""
    assert run.returncode == 0
    return run.stdout


def test_the_support_bot_fits_three_budgets(printed: str) -> None:
    totals = [
        (int(used), int(budget))
        for used, budget in re.findall(r"^(?:about )?(\d+) of (\d+) tokens", printed, re.MULTILINE)
    ]

    assert [budget for _, budget in totals] == [700, 1_500, 6_000]
    assert all(used <= budget for used, budget in totals)


def test_the_support_bot_shows_what_gives_way(printed: str) -> None:
    small, middle, large = printed.split("=== budget ")[1:]

    assert outcomes(small) == {
        "instructions": "whole",
        "memory?": "whole",
        "example?": "dropped",
        "articles?": "cut",
        "conversation_history?": "cut",
        "user_input": "whole",
    }
    assert outcomes(middle)["example?"] == "whole"
    assert outcomes(middle)["conversation_history?"] == "cut"
    assert set(outcomes(large).values()) == {"whole"}


def test_the_request_of_the_support_bot_is_sound(printed: str) -> None:
    request = json.loads(printed.split("=== request at 700 ===")[1])
    messages = request["messages"]
    calls = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]

    assert messages[0]["content"].startswith("You are the support assistant of Fjell")
    assert "talk to Ana Lindqvist (Plus)" in messages[0]["content"]
    assert messages[-1]["role"] == "user"
    assert calls == results
    assert [tool["function"]["name"] for tool in request["tools"]] == ["order_status"]


def outcomes(part: str) -> dict[str, str]:
    """Read the outcome of each top-level row of the table."""
    rows = re.findall(r"^(\w+\??) .*  (whole|cut|dropped|empty|failed)  ", part, re.MULTILINE)
    return dict(rows)
