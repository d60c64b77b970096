"""`ContextAssembler`: from a purpose to a prompt that fits: instructions and a context of slots.

On top of groups and shares; the layout does the rest. It knows no model client.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from attrs import evolve, field, frozen

from promptsections._run import NoWaiting, OnLoop, drive
from promptsections.assembly.records import Record, text_of
from promptsections.assembly.section import SlotSection
from promptsections.assembly.shares import Percent, divide
from promptsections.assembly.slots import Catalog, Purpose, Slot
from promptsections.assembly.sources import SlotQuery, SlotSource, context_source, dimensions_of
from promptsections.assembly.stores import GoalStore
from promptsections.budgets import Budget, Rest, Share, total_budget
from promptsections.errors import DefinitionError, NeedsEventLoopError, SlotSourceError
from promptsections.markup import Escape, XmlElement, enclose
from promptsections.messages import Message
from promptsections.notes import Note
from promptsections.prompt import Prompt
from promptsections.rendered import RenderedPrompt
from promptsections.renderer import Renderer
from promptsections.scope import Waiting
from promptsections.sections import GroupSection, PromptSection, TextSection
from promptsections.templates import to_text
from promptsections.templates.suggestions import did_you_mean, suggest

Extra = Literal["error", "section"]
"""What becomes of additional context that no slot of the purpose reads."""

GoalFailure = Literal["raise", "skip"]
"""What becomes of a context whose goal cannot be loaded."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_log = logging.getLogger("promptsections")


@frozen
class ContextAssembler:
    """Builds the context of a call: immutable, for any number of calls at once.

    The prompt has instructions (the purpose's system prompt) and one user message: a group for each
    category, in the order in which the purpose names its slots first, and in it the slots in their
    order. What is kept is decided by priority, and never changes the order.
    """

    catalog: Catalog
    renderer: Renderer
    sources: Mapping[str, SlotSource] = field(kw_only=True, hash=False)
    """Name → source; a slot without one says what the additional context has for it."""
    goals: GoalStore | None = field(default=None, kw_only=True)
    """Where goals are loaded from, once for each call."""
    goal_failure: GoalFailure = field(default="raise", kw_only=True)
    """`"raise"`: a goal that cannot be loaded is an error; `"skip"`: it is noted."""
    extra: Extra = field(default="error", kw_only=True)
    """`"section"`: an element of its own, named by the key, that is always sent."""
    redistribute: bool = field(default=False, kw_only=True)
    """Whether categories may use what others leave of their shares."""
    escape: Escape = field(default="closing_tag", kw_only=True)
    """What is done about markup in texts; with `"xml"` and `"cdata"` every element parses."""

    def __attrs_post_init__(self) -> None:
        for name, choices in (("extra", Extra), ("goal_failure", GoalFailure), ("escape", Escape)):
            if getattr(self, name) not in get_args(choices):
                listed = ", ".join(map(repr, get_args(choices)))
                raise DefinitionError(f"{name}={getattr(self, name)!r} must be one of {listed}")
        object.__setattr__(self, "sources", _sources(self.sources, self.catalog))

    def build(
        self,
        purpose: str | Purpose,
        *,
        goal_id: str | None = None,
        dimension: str | None = None,
        additional_context: Mapping[str, Any] = _NOTHING,
        shares: Mapping[str, Percent] | None = None,
        budget: int | None = None,
        reserve_output_tokens: int | None = None,
    ) -> RenderedPrompt:
        """Build the prompt of one call, without an event loop.

        Args:
            purpose: What the call is for: a name of the catalog, or a purpose of its slots.
            goal_id: The goal to load.
            dimension: The one dimension of the goal that the call is about.
            additional_context: What slots read by key, such as `failure_context`.
            shares: Category → percent; replaces single shares of the purpose.
            budget: Tokens of input, by default the model's; shares are of what the instructions
                leave.
            reserve_output_tokens: Tokens kept for the answer.

        Returns:
            The prompt; `.layout` says what was sent of each slot, and why.

        Raises:
            DefinitionError: a purpose, category or key of the context is not known.
            SlotSourceError: the goal or a slot that must not fail did.
            NeedsEventLoopError: a store is async.
        """
        asked = self._asked(purpose, goal_id, dimension, additional_context)
        goal, notes = drive(self._load(asked, NoWaiting()))
        rendered = self.renderer.render(
            self._prompt(asked, goal, shares, budget, reserve_output_tokens),
            budget=budget,
            reserve_output_tokens=reserve_output_tokens,
        )
        return _noted(rendered, asked, goal, notes)

    async def abuild(
        self,
        purpose: str | Purpose,
        *,
        goal_id: str | None = None,
        dimension: str | None = None,
        additional_context: Mapping[str, Any] = _NOTHING,
        shares: Mapping[str, Percent] | None = None,
        budget: int | None = None,
        reserve_output_tokens: int | None = None,
    ) -> RenderedPrompt:
        """Build the prompt of one call; stores may be async, and all slots are filled at once.

        The same as `build` otherwise.
        """
        asked = self._asked(purpose, goal_id, dimension, additional_context)
        goal, notes = await self._load(asked, OnLoop())
        rendered = await self.renderer.arender(
            self._prompt(asked, goal, shares, budget, reserve_output_tokens),
            budget=budget,
            reserve_output_tokens=reserve_output_tokens,
        )
        return _noted(rendered, asked, goal, notes)

    # --- what is asked for --------------------------------------------------------------------

    def _asked(
        self,
        purpose: str | Purpose,
        goal_id: str | None,
        dimension: str | None,
        context: Mapping[str, Any],
    ) -> _Asked:
        found = self.catalog.purpose(purpose) if isinstance(purpose, str) else purpose
        if not isinstance(found, Purpose):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"purpose={purpose!r} must be a Purpose, or the name of one")
        if not isinstance(context, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"additional_context={context!r} must be a mapping, key → value")
        slots = tuple(self.catalog.slot(name) for name in found.slots)
        read = {key for slot in slots for key in slot.context_keys}
        extra = {key: value for key, value in context.items() if key not in read}
        if extra and self.extra == "error":
            key = next(iter(extra))
            raise DefinitionError(
                f"purpose {found.name!r}: no slot reads {key!r} of the additional context"
                f"{did_you_mean(key, suggest(key, sorted(read)))}; extra='section' sends it in an "
                "element of its own"
            )
        query = SlotQuery(purpose=found.name, goal_id=goal_id, dimension=dimension, context=context)
        return _Asked(found, slots, query, extra)

    async def _load(
        self, asked: _Asked, waiting: Waiting
    ) -> tuple[Record | None, tuple[Note, ...]]:
        goal_id = asked.query.goal_id
        if self.goals is None or goal_id is None:
            return None, ()
        try:
            goal = await waiting.in_thread(partial(self.goals.load_goal, goal_id))
            if inspect.isawaitable(goal):
                goal = await self._waited(goal, waiting)
        except NeedsEventLoopError:
            raise
        except Exception as error:
            failed = f"goal {goal_id!r} cannot be loaded: {type(error).__name__}: {error}"
            if self.goal_failure == "raise":
                raise SlotSourceError(failed, slot="goal") from error
            _log.warning("%s", failed, exc_info=error)
            return None, (Note("goal_failed", "", failed),)
        if goal is None:
            return None, (Note("goal_failed", "", f"there is no goal {goal_id!r}"),)
        return goal, ()

    async def _waited(self, goal: Awaitable[Record | None], waiting: Waiting) -> Record | None:
        if waiting.may_await:
            return await goal
        if inspect.iscoroutine(goal):
            goal.close()
        raise NeedsEventLoopError(
            "goals must be awaited, and build() does not wait: write `await ….abuild(…)`"
        )

    # --- the prompt -----------------------------------------------------------------------------

    def _prompt(
        self,
        asked: _Asked,
        goal: Record | None,
        overrides: Mapping[str, Percent] | None,
        budget: int | None,
        reserve: int | None,
    ) -> Prompt:
        instructions = TextSection(asked.purpose.system_prompt, name="instructions")
        shares = self.catalog.exact_shares(asked.purpose, overrides)
        limits = divide(self._context_tokens(asked.purpose, budget, reserve), shares)
        groups: dict[str, list[SlotSection]] = {}
        for slot in asked.slots:
            groups.setdefault(slot.category, []).append(self._section(slot, asked, goal))
        sections: list[PromptSection] = [
            GroupSection(
                inside,
                name=category,
                tokens=self._budget(shares[category], limits[category]),
                required=False,
                priority=max(section.priority for section in inside),
            )
            for category, inside in groups.items()
        ]
        sections += [
            TextSection(self._element(key, value), "user", name=f"extra_{key}")
            for key, value in asked.extra.items()
        ]
        context = GroupSection(sections, role="user", name="context")
        return Prompt([instructions, context], name=asked.purpose.name)

    def _context_tokens(self, purpose: Purpose, budget: int | None, reserve: int | None) -> int:
        """Return what the instructions leave, in tokens."""
        profile = self.renderer.profile
        if budget is None:
            kept = self.renderer.reserve_output_tokens if reserve is None else reserve
            budget = profile.input_budget(kept)
        tokenizer = profile.tokenizer()
        instructions = profile.message_tokens(Message("system", purpose.system_prompt), tokenizer)
        return max(0, total_budget(budget) - profile.base_tokens((), tokenizer) - instructions)

    def _budget(self, share: Fraction, limit: int) -> Budget:
        if self.redistribute:
            return Rest(weight=share)
        return Share(share, at_most=max(1, limit))

    def _section(self, slot: Slot, asked: _Asked, goal: Record | None) -> SlotSection:
        return SlotSection(
            name=slot.name,
            slot=slot,
            source=self.sources.get(slot.source, context_source),
            query=evolve(asked.query, goal=goal, keys=slot.context_keys),
            priority=slot.priority,
            escape=self.escape,
        )

    def _element(self, key: str, value: object) -> str:
        return enclose(XmlElement(key, escape=self.escape), to_text(value, name=key))


@frozen
class _Asked:
    """One call, with its names looked up."""

    purpose: Purpose
    slots: tuple[Slot, ...]
    query: SlotQuery
    extra: Mapping[str, Any]
    """What no slot reads."""


def _sources(sources: Mapping[str, SlotSource], catalog: Catalog) -> Mapping[str, SlotSource]:
    """Return sources by name, each one callable, and the source of a slot."""
    if not isinstance(sources, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"sources={sources!r} must be a mapping, name → source")
    known = {slot.source for slot in catalog.slots.values()}
    for name, source in sources.items():
        if name not in known:
            near = did_you_mean(name, suggest(name, sorted(known)))
            raise DefinitionError(f"sources: no slot of the catalog has the source {name!r}{near}")
        if not callable(source):
            raise DefinitionError(
                f"sources: {name!r} is {type(source).__name__}, not a function of a SlotQuery"
            )
    return MappingProxyType(dict(sources))


def _noted(
    rendered: RenderedPrompt, asked: _Asked, goal: Record | None, notes: tuple[Note, ...]
) -> RenderedPrompt:
    notes += (*_not_read(asked), *_no_dimension(asked.query, goal))
    if not notes:
        return rendered
    return evolve(rendered, layout=evolve(rendered.layout, notes=notes + rendered.layout.notes))


def _not_read(asked: _Asked) -> Iterable[Note]:
    """Remark on what a slot could have read, had it not found an earlier key of its own."""
    for slot in asked.slots:
        said = [key for key in slot.context_keys if asked.query.context.get(key) is not None]
        for key in said[1:]:
            detail = f"slot {slot.name!r} reads {said[0]!r}, so {key!r} beside it is not said"
            yield Note("context_not_read", f"context/{slot.category}/{slot.name}", detail)


def _no_dimension(query: SlotQuery, goal: Record | None) -> Iterable[Note]:
    """Remark on a dimension that a goal with dimensions does not have."""
    known = [] if goal is None else [text_of(one, "name") for one in dimensions_of(goal)]
    if query.dimension is not None and known and query.dimension not in known:
        near = did_you_mean(query.dimension, suggest(query.dimension, known))
        detail = f"goal {query.goal_id!r} has no dimension {query.dimension!r}{near}"
        yield Note("dimension_unknown", "", detail)
