"""What a model accepts and how it counts: plain data, and the sums that follow from it.

It knows no table of models, no sections and no provider's payload; it does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, assert_never, get_args

from attrs import field, fields, frozen

from promptsections.errors import DefinitionError
from promptsections.messages import (
    SYSTEM_TAGS,
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    TextPart,
    Tool,
)
from promptsections.profiles.caching import CacheRule
from promptsections.profiles.images import (
    FlatImages,
    ImageRule,
    TileImages,
    depends_on_size,
    image_size,
    image_tokens,
)
from promptsections.profiles.media import NO_MEDIA, MediaRule, audio_tokens, file_tokens
from promptsections.profiles.reserve import answer_reserve, check_whole, input_budget
from promptsections.profiles.tools import (
    JsonToolRule,
    ToolRule,
    ToolRules,
    call_tokens,
    id_tokens,
    provider_text,
    tool_tokens,
)
from promptsections.tokens import (
    BundledTokenizer,
    CachedTokenizer,
    ScaledTokenizer,
    TiktokenTokenizer,
    Tokenizer,
    as_tokenizer,
    cached,
)

Form = Literal["messages", "text"]

SystemRule = Literal["anywhere", "leading", "leading_and_after_user"]
"""Where a model takes system messages: in front only, also right after a user turn, or anywhere."""

Counting = str | Tokenizer | Callable[[str], int]
"""The name of a bundled encoding, a tokenizer, or a function from text to a number of tokens."""


def _encoding(value: Counting) -> str | Tokenizer:
    tokenizer = as_tokenizer(value)  # of a name too, so that an unknown one is an error here
    return value if isinstance(value, str) else tokenizer


def _names(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _identity(encoding: str | Tokenizer) -> object:
    """Return what tells ways of counting apart: two functions may well share a name."""
    inner = encoding.tokenizer if isinstance(encoding, CachedTokenizer) else encoding
    if isinstance(inner, BundledTokenizer | TiktokenTokenizer) and isinstance(inner.encoding, str):
        return inner.encoding  # both count alike
    # A bound method is told apart by the object that it belongs to, even an unhashable one.
    return inner if type(inner).__hash__ is not None else inner.count


@frozen(kw_only=True)
class ModelProfile:
    """One model: its window, its tokenizer, and what everything in a prompt costs.

    The defaults are OpenAI's published chat formula: 3 tokens a message, its role and values,
    1 for a name, and 3 that prime the reply.
    """

    name: str
    encoding: str | Tokenizer = field(converter=_encoding, eq=_identity)
    """The name of a bundled encoding, or a tokenizer."""
    context_window: int | None = None
    """Tokens of input and output together; `None` if there is no limit known."""
    max_output_tokens: int | None = None
    max_input_tokens: int | None = None
    """Tokens of input alone, where the provider limits them as well."""
    form: Form = "messages"
    """Whether a prompt is sent as messages or as one text."""
    tokens_per_message: int = 3
    tokens_per_name: int = 1
    counts_roles: bool = True
    """Whether the words for role and name are charged."""
    reply_priming: int = 3
    """Tokens that begin the answer, charged once."""
    images: ImageRule = field(factory=lambda: TileImages(85, 170))
    media: MediaRule = field(factory=MediaRule)
    """Audio and files."""
    tools: ToolRules | None = field(factory=ToolRule)
    """Tool definitions and calls; `None` charges a call's name and arguments alone."""
    cache: CacheRule | None = None
    """The provider's prompt cache; `None` if there is none, or nothing known of it."""
    system: SystemRule = "anywhere"
    """Where system messages may stand."""
    prefill: bool = True
    """Whether the last message may be the assistant's, as the beginning of the answer."""
    providers: tuple[str, ...] = field(default=("openai", "openai_responses"), converter=_names)
    """Whose `provider_data` may be sent to it, and so is charged: each API has a name."""
    overhead_is_estimate: bool = False
    """Whether the numbers for messages are taken from similar models, not checked on this one."""
    images_are_estimate: bool = False
    """Whether sources disagree about images; `source` says which one is followed."""
    source: str = ""
    """Where the numbers come from, and when they were looked up."""
    key: str = field(init=False, eq=False, repr=False)
    """All numbers that a message's tokens depend on, beside the tokenizer."""
    _tokenizer: Tokenizer = field(init=False, eq=False, repr=False)
    _own_key: tuple[str, object] = field(init=False, eq=False, repr=False)
    """What messages remember their tokens under, as counted by this profile's own tokenizer."""
    _framing: dict[str, int] = field(factory=dict[str, int], init=False, eq=False, repr=False)
    """Role → what is around a text alone, in tokens of this profile's own tokenizer."""

    def __attrs_post_init__(self) -> None:
        _check(self)
        numbers = (
            self.tokens_per_message, self.tokens_per_name, self.counts_roles, self.images,
            self.media, self.tools, self.providers, self.system,
        )  # fmt: skip
        object.__setattr__(self, "key", repr(numbers))
        object.__setattr__(self, "_tokenizer", cached(as_tokenizer(self.encoding)))
        object.__setattr__(self, "_own_key", (self.key, _identity(self._tokenizer)))

    def __reduce__(self) -> tuple[Callable[[], ModelProfile], tuple[()]]:
        given = {a.name: getattr(self, a.name) for a in fields(ModelProfile) if a.init}
        return partial(ModelProfile, **given), ()

    @classmethod
    def plain(cls, tokenizer: Counting, *, form: Form = "messages") -> ModelProfile:
        """Charge the tokens of text, of names and arguments of calls, and nothing else.

        Images cost nothing, audio and files what they declare; `estimates` says so. There is no
        context window, so every render needs a budget.
        """
        encoding = _encoding(tokenizer)
        return cls(
            name=f"plain:{encoding if isinstance(encoding, str) else encoding.name}",
            encoding=encoding,
            form=form,
            tokens_per_message=0,
            tokens_per_name=0,
            counts_roles=False,
            reply_priming=0,
            images=FlatImages(0),
            media=NO_MEDIA,
            tools=None,
            providers=(),
        )

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer with a bounded cache; profiles of a bundled encoding share one.

        The vocabulary of a bundled encoding is loaded on the first count.
        """
        return self._tokenizer

    # --- what things cost -----------------------------------------------------------------------

    def message_tokens(self, message: Message, tokenizer: Tokenizer) -> int:
        """Return what a message costs, in tokens; the message remembers it."""
        return self.messages_tokens((message,), tokenizer)

    def messages_tokens(self, messages: Iterable[Message], tokenizer: Tokenizer) -> int:
        """Return what messages cost, in tokens: one look-up for each that was counted before."""
        key = self._key_of(tokenizer)
        tokens = 0
        for message in messages:
            known = message.remembered(key)
            if known is None:
                known = self.framing_tokens(message, tokenizer)
                content = message.content
                if type(content) is str:  # the common case, with a call less
                    known += tokenizer.count(content)
                else:
                    known += self.content_tokens(message, tokenizer)
                message.remember(key, known)
            tokens += known
        return tokens

    def remembered_tokens(self, message: Message, tokenizer: Tokenizer) -> int | None:
        """Return what a message costs, in tokens, if it was counted whole before."""
        return message.remembered(self._key_of(tokenizer))

    def remember_tokens(self, message: Message, tokenizer: Tokenizer, tokens: int) -> None:
        """Let a message remember what it costs, where that is known without counting it whole."""
        message.remember(self._key_of(tokenizer), tokens)

    def _key_of(self, tokenizer: Tokenizer) -> object:
        own = tokenizer is self._tokenizer
        return self._own_key if own else (self.key, _identity(tokenizer))

    def content_tokens(self, message: Message, tokenizer: Tokenizer) -> int:
        """Return what the text of a message costs, in tokens: each text part by itself."""
        content = message.content
        if content is None:
            return 0
        if isinstance(content, str):
            return tokenizer.count(content)
        return sum(tokenizer.count(part.text) for part in content if isinstance(part, TextPart))

    def framing_tokens(self, message: Message, tokenizer: Tokenizer) -> int:
        """Return what a message costs beside its text, in tokens.

        That is its overhead, role and name, calls and the id of the call it answers, images,
        audio and files, and what is given back to the provider.

        Source: openai-cookbook, How_to_count_tokens_with_tiktoken.ipynb: every string of a message
        is counted. So ids are too, which is at most too dear.
        """
        has_more = (
            message.tool_calls or message.tool_call_id or message.name or message.provider_data
        )
        if has_more or type(message.content) is not str or tokenizer is not self._tokenizer:
            return self._framing_of(message, tokenizer)
        known = self._framing.get(message.role)  # around a text alone it depends on nothing else
        if known is None:
            known = self._framing[message.role] = self._framing_of(message, tokenizer)
        return known

    def _framing_of(self, message: Message, tokenizer: Tokenizer) -> int:
        tokens = self.tokens_per_message
        if self.counts_roles:
            tokens += tokenizer.count(message.role)
        if message.role in ("system", "developer") and self.system != "anywhere":
            # Inside a conversation it is sent in these; who knows where it stands charges always.
            texts = message.content if isinstance(message.content, tuple) else (message.content,)
            tokens += len(texts) * tokenizer.count("".join(SYSTEM_TAGS))
        # A result has no name in what is sent; the name of its function stands in the call.
        if message.name and message.role != "tool":
            tokens += self.tokens_per_name
            tokens += tokenizer.count(message.name) if self.counts_roles else 0
        for call in message.tool_calls:
            tokens += call_tokens(self.tools, call, tokenizer)
        if message.role == "tool" and self.tools is not None:
            tokens += self.tools.result + id_tokens(message.tool_call_id, tokenizer)
        if message.content is not None and not isinstance(message.content, str):
            tokens += sum(self._part_tokens(part) for part in message.content)
        for provider in self.providers if message.provider_data else ():
            data = message.provider_data.get(provider)
            tokens += tokenizer.count(provider_text(data, provider)) if data else 0
        return tokens

    def base_tokens(self, tools: Sequence[Tool], tokenizer: Tokenizer) -> int:
        """Return what a request costs before its first message, in tokens."""
        return self.reply_priming + tool_tokens(self.tools, tools, tokenizer)

    def _part_tokens(self, part: Part) -> int:
        match part:
            case TextPart():
                return 0
            case ImagePart():
                return image_tokens(self.images, part)
            case AudioPart():
                return audio_tokens(self.media, part)
            case FilePart():
                return file_tokens(self.media, part)
            case _:
                assert_never(part)

    # --- how far to trust it --------------------------------------------------------------------

    @property
    def exact(self) -> bool:
        """Whether plain messages are counted exactly as the provider does."""
        return self.tokenizer().exact and not self.overhead_is_estimate

    def estimates(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        tokenizer: Tokenizer | None = None,
    ) -> tuple[str, ...]:
        """Say what makes the count of a prompt approximate; nothing if it is exact."""
        found: list[str] = []
        tokenizer = tokenizer or self.tokenizer()
        if not tokenizer.exact:
            found.append(_described(tokenizer))
        if self.overhead_is_estimate:
            found.append(f"message overhead of {self.name}")
        if tools:
            found.append(f"tool definitions of {_of(len(tools), 'tool')}{_how(self.tools)}")
        calls = given_back = 0
        parts: list[Part] = []
        for message in messages:
            if message.tool_calls:
                calls += len(message.tool_calls)
            if message.provider_data:
                given_back += any(message.provider_data.get(name) for name in self.providers)
            if isinstance(message.content, tuple):
                parts += message.content
        if calls and self.tools is not None:
            found.append(f"framing of {_of(calls, 'tool call')}")
        if given_back:
            found.append(f"provider data of {_of(given_back, 'message')}")
        return (*found, *self._part_estimates(parts)) if parts else tuple(found)

    def _part_estimates(self, parts: Sequence[Part]) -> list[str]:
        images = [part for part in parts if isinstance(part, ImagePart)]
        uncharged = isinstance(self.images, FlatImages) and not self.images.tokens
        unknown = sum(1 for i in images if depends_on_size(self.images, i) and not image_size(i))
        audio = sum(1 for part in parts if isinstance(part, AudioPart) and part.tokens is None)
        files = sum(1 for part in parts if isinstance(part, FilePart) and part.tokens is None)
        reasons = {
            f"{_of(len(images), 'image')} that nothing is charged for": uncharged and images,
            f"{_of(len(images), 'image')}, by a disputed rule": self.images_are_estimate and images,
            f"{_of(unknown, 'image')} of unknown size": unknown,
            f"{_of(audio, 'audio part')} without declared tokens": audio,
            f"{_of(files, 'file')} without declared tokens": files,
        }
        return [reason for reason, holds in reasons.items() if holds]

    # --- how much there is ----------------------------------------------------------------------

    def input_budget(
        self, reserve_output_tokens: int | None = None, *, max_output_tokens: int | None = None
    ) -> int:
        """Return how many tokens a prompt may have: the window without the answer's reserve.

        Args:
            reserve_output_tokens: what is kept for the answer; by default as `answer_reserve` says.
            max_output_tokens: the most that the call lets the model answer.

        Raises:
            InvalidBudgetError: if there is no window, or the reserve leaves nothing of it.
        """
        return input_budget(self, reserve_output_tokens, max_output_tokens)

    def answer_reserve(self, max_output_tokens: int | None = None) -> int:
        """Return how many tokens are kept for the answer, if nobody says how many.

        That is the smaller of the model's output limit and the call's. Where the call has none and
        the model's is not known or would leave nothing of the window, it is a quarter of that.

        Args:
            max_output_tokens: the most that the call lets the model answer.
        """
        return answer_reserve(self, max_output_tokens)


def _described(tokenizer: Tokenizer) -> str:
    inner = tokenizer.tokenizer if isinstance(tokenizer, CachedTokenizer) else tokenizer
    if isinstance(inner, ScaledTokenizer):
        margin = float((inner.factor - 1) * 100)
        return f"tokenizer {inner.base.name} with a margin of {margin:g} %"
    return f"tokenizer {tokenizer.name}"


def _how(rule: ToolRules | None) -> str:
    match rule:
        case None:
            return " that nothing is charged for"
        case JsonToolRule():
            return f", as JSON and {_of(rule.request, 'token')} for tool use"
        case ToolRule():
            return ""
        case _:
            assert_never(rule)


def _of(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


# --- checks -------------------------------------------------------------------------------------


def _check(profile: ModelProfile) -> None:
    if not profile.name:
        raise DefinitionError("a ModelProfile needs a name")
    if profile.form not in ("messages", "text"):
        raise DefinitionError(f"form={profile.form!r}: write 'messages' or 'text'")
    if profile.system not in get_args(SystemRule):
        raise DefinitionError(
            f"system={profile.system!r}: write one of {', '.join(map(repr, get_args(SystemRule)))}"
        )
    for name in ("context_window", "max_output_tokens", "max_input_tokens"):
        value = getattr(profile, name)
        if value is not None:
            check_whole(name, value, least=1)
    for name in ("tokens_per_message", "reply_priming"):
        check_whole(name, getattr(profile, name), least=0)
