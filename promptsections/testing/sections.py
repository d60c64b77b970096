"""`check_section`: everything that a section or a block must obey, checked in one call.

It knows no test framework: whatever is broken is an `AssertionError` that names the rule.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from attrs import evolve, field, frozen

from promptsections.blocks import Block
from promptsections.counting import Counter
from promptsections.layout import ResolvedSection
from promptsections.messages import Message
from promptsections.places import is_plain_group
from promptsections.prompt import Prompt
from promptsections.rendered import Resolved
from promptsections.renderer import Renderer
from promptsections.scope import Scope
from promptsections.sections import Content, PromptSection
from promptsections.testing.laws import assert_laws, resolve_anyhow
from promptsections.testing.tokenizers import ReadingTokenizer, WordTokenizer
from promptsections.tokens import Truncate

_LARGE = 1_000_000
"""Tokens that are meant to be more than any section of a test has."""
_PLENTY = 50_000
"""Characters that a block may read whatever it is asked."""


@frozen
class _Holder(PromptSection):
    """A section that is a given block."""

    kind: ClassVar[str] = "block"
    block: Block = field(kw_only=True)

    def resolve(self, scope: Scope, /) -> Content:
        return self.block


def check_section(
    section: PromptSection | Block,
    *,
    memory: object = None,
    context: Any = None,
    budgets: Iterable[int] | None = None,
    renderer: Renderer | None = None,
    picklable: bool = True,
) -> None:
    """Check that a section keeps the contract of sections, whatever its budget.

    It is resolved (on an event loop if it must be awaited), measured, fitted and laid out by
    itself, in messages and in a text. The rules:

    * *measure*: `0 <= floor <= natural`; exact up to `at_most`, and `at_most + 1` beyond.
    * *fit*: takes at most what it is given, and at least its floor; everything from natural on;
      never less for a larger size.
    * *same twice*: asked again, it answers the same.
    * *pay for what is sent*: little more is read than `at_most` tokens need.
    * *unchanged*: the section and memory are what they were before; both can be pickled.
    * the laws of a layout, as `assert_laws` has them.

    Args:
        section: A section, or a block.
        memory: What it reads.
        context: What the framework passes through.
        budgets: Tokens to lay it out in; by default some around its floor and its natural size.
        renderer: What renders it; by default one that counts words, as messages and as text.
        picklable: Whether the section can be pickled; one that holds a connection cannot.

    Raises:
        AssertionError: names the rule that is broken, and the numbers.
    """
    checked = section if isinstance(section, PromptSection) else _Holder(block=section)
    prompt = Prompt([checked])
    before = _frozen(checked, memory, picklable=picklable)
    for each in _renderers(renderer):
        enough = each.profile.context_window or _LARGE
        resolved = resolve_anyhow(each, prompt, memory, enough, context)
        sizes = {1}
        for part in resolved.sections():
            if part.block is not None:
                sizes |= _check_block(part.block, _counter(resolved, part, checked), part.path)
        around = sorted(min(resolved.base + size, enough) for size in sizes)
        tried = around if budgets is None else list(budgets)
        assert_laws(each, prompt, memory, tried, context=context)
        _check_reading(each, prompt, memory, enough, context)
    after = _frozen(checked, memory, picklable=picklable)
    assert before == after, f"unchanged: {checked!r} or memory is not what it was before"


def _renderers(given: Renderer | None) -> Iterator[Renderer]:
    if given is not None:
        yield evolve(given, output="messages")
        yield evolve(given, output="text")
        return
    yield Renderer(tokenizer=WordTokenizer())
    yield Renderer(tokenizer=WordTokenizer(), output="text")


def _frozen(section: PromptSection, memory: object, *, picklable: bool) -> tuple[object, ...]:
    if not picklable:
        return repr(section), repr(memory)
    try:
        copy: PromptSection = pickle.loads(pickle.dumps(section))
    except Exception as error:
        raise AssertionError(
            f"unchanged: {section!r} cannot be pickled ({error}); "
            "if it must hold what cannot be, pass picklable=False"
        ) from error
    assert copy == section, f"unchanged: a pickled copy of {section!r} is {copy!r}"
    return copy, repr(memory)


def _counter(resolved: Resolved, part: ResolvedSection, section: PromptSection) -> Counter:
    """Return how things count where the part stands."""
    in_group = is_plain_group(section) and getattr(section, "role", None) is not None
    in_text = resolved.profile.form == "text" or in_group
    return evolve(resolved.counter, lines=part.lines if in_text else None)


# --- blocks ---------------------------------------------------------------------------------------


def _check_block(block: Block, counter: Counter, path: str) -> set[int]:
    """Check what a block promises; return sizes that are worth a layout, in tokens."""
    floor, natural = block.measure(counter, _LARGE)
    assert 0 <= floor <= natural, (
        f"measure: {path!r} has floor={floor}, natural={natural}: 0 <= floor <= natural is needed"
    )
    sizes = _sizes(floor, natural)
    for at_most in {0, max(floor - 1, 0), *sizes}:
        bounded = tuple(block.measure(counter, at_most))
        expected = min(floor, at_most + 1), min(natural, at_most + 1)
        assert bounded == expected, (
            f"measure: {path!r} measured up to {at_most} tokens is {bounded}, not {expected}"
        )
    if floor:
        _check_fit(block, counter, path, sizes)
    return {max(floor - 1, 1), *(size for size in sizes if size)}


def _sizes(floor: int, natural: int) -> list[int]:
    """Return sizes between floor and natural, both and one more among them."""
    steps = range(floor, natural, max(1, (natural - floor) // 8))
    return sorted({*steps, floor, floor + 1, max(natural - 1, floor), natural, natural + 1})


def _check_fit(block: Block, counter: Counter, path: str, sizes: Sequence[int]) -> None:
    floor, natural = block.measure(counter, _LARGE)
    everything = list(block.fit(counter, _LARGE))
    less = 0
    for size in sizes:
        sent = list(block.fit(counter, size))
        took = counter.cost(sent)
        assert took <= size, f"fit: {path!r} was given {size} tokens and took {took}"
        assert took >= min(floor, size), (
            f"fit: {path!r} was given {size} tokens and took {took}, less than its floor of {floor}"
        )
        assert list(block.fit(counter, size)) == sent, (
            f"same twice: {path!r} fits {size} tokens in two ways"
        )
        assert size < natural or sent == everything, (
            f"fit: {path!r} is given {size} tokens, all that it needs, and does not send all"
        )
        amount = _amount(sent, getattr(block, "cut", None))
        assert amount >= less, (
            f"fit: {path!r} sends {amount} characters in {size} tokens, and {less} in fewer"
        )
        less = amount


def _amount(messages: Iterable[Message], cut: object = None) -> int:
    """Measure how much is sent, in characters and messages, without marks of what was cut.

    Of a text whose middle is cut out only the start is never less, so characters do not count.
    """
    marker, counts = (cut.marker, cut.keep != "middle") if isinstance(cut, Truncate) else ("", True)
    amount = 0
    for message in messages:
        texts = (message.text.replace(marker, ""), *(call.arguments for call in message.tool_calls))
        amount += 1 + (sum(map(len, texts)) if counts else 0)
    return amount


def _check_reading(
    renderer: Renderer, prompt: Prompt, memory: object, budget: int, context: Any
) -> None:
    """Check that a measurement does not read a large section far beyond what was asked."""
    tokenizer = ReadingTokenizer(renderer.profile.tokenizer())
    reading = evolve(renderer, tokenizer=tokenizer)
    resolved = resolve_anyhow(reading, prompt, memory, budget, context)
    for part in resolved.sections():
        if part.block is None:
            continue
        counter = _counter(resolved, part, prompt.sections[0])
        at_most = 64
        tokenizer.characters = 0
        floor = part.block.measure(counter, at_most).floor
        read = tokenizer.characters
        allowed = _PLENTY + 16 * at_most + 4 * _unit(part.block, counter, floor)
        assert read <= allowed, (
            f"pay for what is sent: {part.path!r} was measured up to {at_most} tokens and read "
            f"{read} characters; {allowed} are plenty"
        )


def _unit(block: Block, counter: Counter, floor: int) -> int:
    """Return the characters of the largest piece that is sent whole or not at all."""
    whole = block.fit(counter, _LARGE)
    pieces = whole if len(whole) > 1 else block.fit(counter, floor)
    return max((_amount([message]) for message in pieces), default=0)
