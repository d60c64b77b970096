"""Trims a chat with another library, in an interpreter where that is installed.

Reads what to do from standard input as JSON, and writes for each turn how many of the oldest
messages were left out. Imports nothing of ours; sizes of texts are given, so that everybody counts
alike and no vocabulary is fetched.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    asked = json.load(sys.stdin)
    run = prompt_poet if asked["step"] else langchain
    messages = asked["messages"]
    turns = range(len(messages) // 2)
    print(json.dumps([run(asked, messages[: 2 * turn + 1]) for turn in turns]))


def langchain(asked: dict[str, Any], messages: list[tuple[str, str]]) -> int:
    """Trim with `trim_messages`, as its guide says."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages

    sizes = dict(zip((str(n) for n in range(-1, len(messages))), asked["sizes"], strict=False))
    kinds = {"user": HumanMessage, "assistant": AIMessage}
    given = [SystemMessage(asked["system"], id="-1")]
    given += [kinds[role](text, id=str(n)) for n, (role, text) in enumerate(messages)]
    kept = trim_messages(
        given,
        max_tokens=asked["budget"] - 3,  # reply priming, that a counter would add twice
        token_counter=lambda found: sum(sizes[message.id] for message in found),
        strategy="last",
        include_system=True,
        start_on="human",
    )
    return len(given) - len(kept)


_TEMPLATE = """
- name: system
  role: system
  content: |
    {{ escape_special_characters(system) }}
{% for message in messages %}
- name: message_{{ loop.index0 }}
  role: {{ message[0] }}
  {% if not loop.last %}truncation_priority: 1{% endif %}

  content: |
    {{ escape_special_characters(message[1]) }}
{% endfor %}
"""


def prompt_poet(asked: dict[str, Any], messages: list[tuple[str, str]]) -> int:
    """Truncate with a step."""
    from prompt_poet import Prompt

    sizes = {asked["system"].strip(): asked["sizes"][0]}
    for (_, text), size in zip(messages, asked["sizes"][1:], strict=False):
        sizes[text.strip()] = size
    prompt = Prompt(
        raw_template=_TEMPLATE,
        template_data={"system": asked["system"], "messages": messages},
        encode_func=lambda text: [0] * sizes[text.strip()],
    )
    prompt.tokenize()
    prompt.truncate(token_limit=asked["budget"] - 3, truncation_step=asked["step"])
    return 1 + len(messages) - len(prompt.parts)


if __name__ == "__main__":
    main()
