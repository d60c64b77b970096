"""prompt-poet: a template of YAML and Jinja, the history with a truncation priority."""

from __future__ import annotations

import tiktoken
from prompt_poet import Prompt

from benchmarks.peers.adapters import ENCODING, Prepared, of_dicts
from benchmarks.workload import Workload

_TEMPLATE = """
- name: system instructions
  role: system
  content: |
    {{ escape_special_characters(instructions) }}
- name: documents
  role: system
  content: |
    {{ escape_special_characters(documents) }}
{% for message in history %}
- name: chat_message
  role: {{ message.role }}
  truncation_priority: 1
  content: |
    {{ escape_special_characters(message.text) }}
{% endfor %}
- name: user query
  role: user
  content: |
    {{ escape_special_characters(question) }}
"""


def prepare(workload: Workload, budget: int) -> Prepared:
    """Keep values and encoder; a prompt is made for each request, for it holds the values."""
    encode = tiktoken.get_encoding(ENCODING).encode
    values = {
        "instructions": workload.system,
        "documents": workload.context,
        "history": workload.history,
        "question": workload.question,
    }

    def run() -> object:
        prompt = Prompt(raw_template=_TEMPLATE, template_data=dict(values), encode_func=encode)
        prompt.tokenize()
        prompt.truncate(token_limit=budget, truncation_step=1)
        return prompt.messages

    return Prepared(run, of_dicts)
