"""Random conversations that providers accept, and such that only OpenAI's Chat Completions do."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from promptsections.messages import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    TextPart,
    Tool,
    ToolCall,
)

texts = st.text(max_size=20)
names = st.none() | st.from_regex(r"[a-zA-Z0-9_-]{1,10}", fullmatch=True)
text_parts = st.builds(TextPart, texts)
images = st.builds(
    ImagePart,
    st.sampled_from(["https://example.com/x.png", "data:image/png;base64,QUJD"]),
    detail=st.sampled_from([None, "auto", "low", "high", "original"]),
)
audio = st.builds(AudioPart, st.just("QUJD"), format=st.sampled_from(["wav", "mp3"]))
files = st.builds(FilePart, file_id=st.just("file-1"), filename=names) | st.builds(
    FilePart, data=st.just("data:application/pdf;base64,QUJD"), filename=names
)
parts: st.SearchStrategy[Part] = text_parts | images | audio | files
text_content = texts | st.lists(text_parts, max_size=3)

instructions = st.builds(
    Message, st.sampled_from(["system", "developer"]), text_content, name=names
).map(lambda message: [message])
user_turns = st.builds(
    Message,
    st.just("user"),
    texts | st.lists(parts, max_size=4),
    name=names,
    extra=st.just({"id": 7}),
).map(lambda message: [message])
answers = st.builds(
    Message,
    st.just("assistant"),
    text_content | st.none(),
    name=names,
    provider_data=st.sampled_from(
        [{}, {"openai": {"refusal": "No."}}, {"anthropic": {"thinking": "…"}}]
    ),
).map(lambda message: [message])


@st.composite
def steps(draw: st.DrawFn) -> list[Message]:
    """Draw an assistant message with calls, and their results in any order."""
    ids = draw(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3, unique=True))
    calls = [ToolCall(call_id, draw(texts), draw(texts)) for call_id in ids]
    ids = draw(st.permutations([call.id for call in calls]))
    results = [
        Message("tool", draw(text_content | st.none()), tool_call_id=call_id, name=draw(names))
        for call_id in ids
    ]
    asks = Message("assistant", draw(text_content | st.none()), tool_calls=calls, name=draw(names))
    return [asks, *results]


conversations = st.lists(instructions | user_turns | answers | steps(), max_size=6).map(
    lambda pieces: [message for piece in pieces for message in piece]
)
tools = st.lists(
    st.builds(
        Tool,
        st.from_regex(r"[a-zA-Z0-9_-]{1,64}", fullmatch=True),
        texts,
        st.just({"type": "object", "properties": {"é": {"type": "string"}}, "required": ["é"]}),
    ),
    max_size=3,
)

# --- for every provider -------------------------------------------------------------------------

functions = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]{0,8}", fullmatch=True)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
).filter(lambda value: "Infinity" not in json.dumps(value))
arguments = st.just("") | st.dictionaries(texts, values, max_size=2).map(json.dumps)
ids = st.sampled_from(["", "c1", "c2", "functions.lookup:0", "é", "x" * 50, "A1b2C3d4E"])
user_says = st.builds(Message, st.just("user"), texts | st.lists(text_parts, max_size=3))
says = st.builds(Message, st.just("assistant"), text_content | st.none())
instructs = st.builds(Message, st.sampled_from(["system", "developer"]), text_content)


@st.composite
def any_steps(draw: st.DrawFn) -> list[Message]:
    """Draw a step whose ids may be empty, foreign to a provider, or used before."""
    calls = [
        ToolCall(draw(ids), draw(functions), draw(arguments))
        for _ in range(draw(st.integers(1, 3)))
    ]
    results = [
        Message("tool", draw(text_content | st.none()), tool_call_id=call.id or None)
        for call in calls
    ]
    return [
        Message("assistant", draw(text_content | st.none()), tool_calls=calls),
        *draw(st.permutations(results)),
    ]


def _one(message: Message) -> list[Message]:
    return [message]


_middle = user_says.map(_one) | says.map(_one) | instructs.map(_one) | any_steps()
accepted = st.builds(
    lambda system, pieces: [
        *system,
        Message("user", "Hello!"),
        *(message for piece in pieces for message in piece),
        Message("user", "And now?"),
    ],
    st.lists(instructs, max_size=2),
    st.lists(_middle, max_size=6),
)
"""Text and calls that every provider can be sent: the user begins and ends."""

broken = st.lists(
    _middle
    | st.builds(Message, st.just("tool"), texts, tool_call_id=ids | st.none()).map(_one)
    | st.builds(
        Message,
        st.just("assistant"),
        text_content,
        tool_calls=st.lists(st.builds(ToolCall, ids, functions, arguments), max_size=3),
    ).map(_one),
    max_size=10,
).map(lambda pieces: [message for piece in pieces for message in piece])
"""Messages in any order: orphans, unanswered calls, ids used again."""
