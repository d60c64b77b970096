"""`SlotSection`: one slot of a context, filled from its source and put in its element.

It knows one slot; shares and order are the business of the assembler.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final, cast

from attrs import evolve, field, frozen

from promptsections.assembly.slots import STABILITY, Slot
from promptsections.assembly.sources import SlotQuery, SlotSource
from promptsections.blocks import TextBlock
from promptsections.errors import (
    DataSourceError,
    DefinitionError,
    NeedsEventLoopError,
    PromptSectionsError,
    SlotSourceError,
)
from promptsections.markup import Bare, Enclosure, Escape, XmlElement
from promptsections.messages import Message
from promptsections.scope import Scope
from promptsections.sections import Content, Declared, PromptSection, Stability
from promptsections.sections.wrapping import wrapped
from promptsections.templates import Deferred
from promptsections.tokens import Truncate

AT_LINES: Final = Truncate(boundary="line", marker="\n... (truncated)")
"""How the text of a slot gives way: inside its element, at lines, the marker counted."""

_log = logging.getLogger("promptsections")


@frozen(kw_only=True)
class SlotSection(PromptSection):
    """A slot's text in its XML element; the text is cut, never the element."""

    slot: Slot
    source: SlotSource = field(eq=False)
    query: SlotQuery
    escape: Escape = "closing_tag"
    """What is done about markup in the text."""
    required: bool = False
    when_over: Truncate | None = AT_LINES

    def resolve(self, scope: Scope, /) -> Content | Awaitable[Content]:
        """Return the text; nothing if it is blank."""

        async def said() -> Content:
            return self._block(await self._text(scope), scope)

        return Deferred(said)

    def how_stable(self, declared: Declared, /) -> Stability:
        """Return what the slot's layer promises."""
        return self.stability or STABILITY[self.slot.layer]

    async def _text(self, scope: Scope) -> str:
        slot = self.slot
        try:
            value = await self._value(scope)
            text = "" if value is None else slot.formatter(value)
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise DefinitionError(f"the formatter returned {type(text).__name__}, not a text")
        except NeedsEventLoopError:
            raise
        except Exception as error:
            failed = f"slot {slot.name!r}: {_described(error)}"
            if slot.on_failure == "raise":
                raise SlotSourceError(failed, slot=slot.name) from error
            if slot.on_failure == "skip":
                raise DataSourceError(failed) from error
            _log.warning("said the default instead: %s", failed, exc_info=error)
            scope.note("slot_default", f"{failed}; its default is said instead")
            return slot.default
        return text

    async def _value(self, scope: Scope) -> Any:
        """Ask the source, in a thread where others would wait for it."""

        def tell(what: str) -> None:
            scope.note("source_failed", f"slot {self.slot.name!r}: {what}")

        query = evolve(self.query, tell=tell)
        is_async = inspect.iscoroutinefunction(self.source)
        if is_async and not scope.may_await:
            raise _must_wait(self.slot)
        if is_async:
            return await self.source(query)
        found: Any = await scope.waiting.in_thread(partial(self.source, query))
        while isinstance(found, Deferred) or inspect.isawaitable(found):
            if not scope.may_await and not isinstance(found, Deferred):
                if inspect.iscoroutine(found):
                    found.close()
                raise _must_wait(self.slot)
            found = await cast("Awaitable[Any]", found)
        return cast("object", found)

    def _block(self, text: str, scope: Scope) -> TextBlock | None:
        if not text.strip():
            return None
        return TextBlock(
            text,
            Message("user"),
            cut=self.cut,
            limit=self.budget.ceiling,
            **wrapped(self._enclosure(), [text], scope),
        )

    def _enclosure(self) -> Enclosure | None:
        """Return what the text stands in; without a tag, what its markup is written by."""
        if self.slot.tag is not None:
            return XmlElement(self.slot.tag, escape=self.escape)
        return Bare(self.escape) if self.escape in ("xml", "cdata") else None


def _described(error: Exception) -> str:
    if isinstance(error, PromptSectionsError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _must_wait(slot: Slot) -> NeedsEventLoopError:
    return NeedsEventLoopError(
        f"the source of slot {slot.name!r} must be awaited, and build() does not wait: "
        "write `await ….abuild(…)`"
    )
