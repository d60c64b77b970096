"""Random conversations that OpenAI's Chat Completions accept."""

from __future__ import annotations

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
