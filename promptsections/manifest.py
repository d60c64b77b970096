"""`ToolManifest`: which tools a persona may use with a model, and which of them fit.

Reasons stand beside the tools, never in their schemas. It knows no sections and no renderer; put
what it selects into `Prompt(tools=…)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Literal, cast, get_args

from attrs import evolve, field, frozen

from promptsections.errors import BudgetExceededError, DefinitionError, DuplicateNameError
from promptsections.messages import Tool
from promptsections.profiles import ModelProfile

EmptyList = Literal["none", "all"]
"""What an empty list of enabled tools allows; `"all"` is how AgentOS reads it."""


def _ids(value: Iterable[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        raise DefinitionError(f"tool ids must be a list, not the text {value!r}")
    ids = tuple(value)
    for id_ in ids:
        if not isinstance(id_, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"tool ids must be texts, not {id_!r}")
    return ids


def _some_ids(value: Iterable[str]) -> tuple[str, ...]:
    return _ids(value) or ()


def _personas(value: Mapping[str, ToolAccess]) -> Mapping[str, ToolAccess]:
    return MappingProxyType(dict(value))


def _overrides(value: Mapping[str, Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({model: _some_ids(ids) for model, ids in value.items()})


@frozen(kw_only=True)
class ToolAccess:
    """The tools of one persona; ids are compared exactly."""

    enabled: tuple[str, ...] | None = field(default=None, converter=_ids)
    """Ids that it may use; `None` does not restrict it."""
    disabled: tuple[str, ...] = field(default=(), converter=_some_ids)
    """Ids that it may never use; wins over everything."""
    models: Mapping[str, tuple[str, ...]] = field(
        factory=dict[str, tuple[str, ...]], converter=_overrides, hash=False
    )
    """Model → ids that replace `enabled` for it; an empty list allows none."""


@frozen(kw_only=True)
class ToolSelection:
    """Which tools were selected, and why."""

    selected: Mapping[str, Tool]
    """Tool id → tool, in the order in which they were offered."""
    reasons: Mapping[str, str]
    """Tool id → `included:…` or `excluded:…`, for all that a rule spoke of."""
    unknown: tuple[str, ...] = ()
    """Ids of the manifest that no offered tool has."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The selected tools."""
        return tuple(self.selected.values())

    def within(
        self,
        tokens: int,
        profile: ModelProfile,
        *,
        priorities: Mapping[str, int] | None = None,
        when_over: Literal["drop", "error"] = "drop",
    ) -> ToolSelection:
        """Keep the tools whose definitions fit, as the model's provider bills them.

        Args:
            tokens: What all definitions together may take.
            profile: The model.
            priorities: Tool id → priority; higher is kept first, those not named have 0, and among
                equals the one offered first.
            when_over: `"drop"` leaves out what does not fit, with the reason
                `excluded:tool_budget`; a smaller tool behind it may still be kept.

        Raises:
            BudgetExceededError: they do not fit, and `when_over` is `"error"`.
        """
        if when_over not in ("drop", "error"):  # pyright: ignore[reportUnnecessaryContains]
            raise DefinitionError(f"when_over={when_over!r} must be 'drop' or 'error'")
        needed = _cost(self.tools, profile)
        if needed <= tokens:
            return self
        if when_over == "error":
            raise BudgetExceededError(
                f"{len(self.selected)} tools need {needed} tokens, and may have {tokens}: "
                "offer fewer, or give them priorities and when_over='drop'",
                budget=tokens,
                needed=needed,
                floors={id_: _cost((tool,), profile) for id_, tool in self.selected.items()},
            )
        kept: dict[str, Tool] = {}
        for id_ in sorted(self.selected, key=lambda id_: -(priorities or {}).get(id_, 0)):
            if _cost((*kept.values(), self.selected[id_]), profile) <= tokens:
                kept[id_] = self.selected[id_]
        left_out = {id_: "excluded:tool_budget" for id_ in self.selected if id_ not in kept}
        return evolve(
            self,
            selected=MappingProxyType(
                {id_: tool for id_, tool in self.selected.items() if id_ in kept}
            ),
            reasons=MappingProxyType({**self.reasons, **left_out}),
        )


def _cost(tools: Sequence[Tool], profile: ModelProfile) -> int:
    """Return what definitions add to a request, in tokens."""
    tokenizer = profile.tokenizer()
    return profile.base_tokens(tools, tokenizer) - profile.base_tokens((), tokenizer)


@frozen
class ToolManifest:
    """Persona → the tools it may use.

    The rules, first to last: an override for the model; else what is enabled; then everything that
    is disabled is taken away. A persona that is not listed, or none, may use all tools.
    """

    personas: Mapping[str, ToolAccess] = field(
        factory=dict[str, ToolAccess], converter=_personas, hash=False
    )
    empty_list_means: EmptyList = field(default="none", kw_only=True)
    """What `enabled=[]` allows."""
    wildcards: bool = field(default=False, kw_only=True)
    """Whether `*`, `?` and `[…]` in ids and names of models stand for other characters. An exact
    name of a model wins over a pattern, an earlier pattern over a later one."""

    def __attrs_post_init__(self) -> None:
        if self.empty_list_means not in get_args(EmptyList):
            raise DefinitionError(
                f"empty_list_means={self.empty_list_means!r} must be 'none' or 'all'"
            )
        for persona, access in self.personas.items():
            if not isinstance(access, ToolAccess):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise DefinitionError(
                    f"persona {persona!r} has {type(access).__name__}, not a ToolAccess"
                )

    def select(
        self,
        tools: Iterable[Tool] | Mapping[str, Tool],
        *,
        persona: str | None = None,
        model: str | None = None,
        supported: bool = True,
    ) -> ToolSelection:
        """Select tools for one call.

        Args:
            tools: What there is, in order; a mapping names them by ids of its own, otherwise the
                id of a tool is its name.
            persona: Who calls.
            model: Name of the model that is called.
            supported: Whether the model takes tools at all.

        Raises:
            DefinitionError: if something that is offered is no tool.
            DuplicateNameError: if two tools have the same id.
        """
        offered = _by_id(tools)
        if not supported:
            reasons = dict.fromkeys(offered, "excluded:tools_unsupported")
            return ToolSelection(selected={}, reasons=MappingProxyType(reasons))
        access = None if persona is None else self.personas.get(persona)
        if access is None:
            return ToolSelection(selected=offered, reasons=MappingProxyType({}))
        reasons = self._reasons(access, offered, model)
        return ToolSelection(
            selected=MappingProxyType(
                {
                    id_: tool
                    for id_, tool in offered.items()
                    if not reasons.get(id_, "").startswith("excluded:")
                }
            ),
            reasons=MappingProxyType(reasons),
            unknown=self._unknown(access, offered, model),
        )

    def _reasons(
        self, access: ToolAccess, offered: Mapping[str, Tool], model: str | None
    ) -> dict[str, str]:
        override = self._override(access, model)
        enabled = access.enabled
        if enabled == () and self.empty_list_means == "all":
            enabled = None
        reasons: dict[str, str] = {}
        for id_ in offered:
            if self._listed(id_, access.disabled):
                reasons[id_] = "excluded:disabled_tool_ids"
            elif override is not None:
                allowed = self._listed(id_, override)
                reasons[id_] = (
                    "included:model_override" if allowed else "excluded:not_in_model_override_list"
                )
            elif enabled is not None:
                allowed = self._listed(id_, enabled)
                reasons[id_] = (
                    "included:enabled_tool_ids" if allowed else "excluded:not_in_enabled_tool_ids"
                )
        return reasons

    def _override(self, access: ToolAccess, model: str | None) -> tuple[str, ...] | None:
        if model is None:
            return None
        if model in access.models or not self.wildcards:
            return access.models.get(model)
        return next((ids for name, ids in access.models.items() if fnmatchcase(model, name)), None)

    def _unknown(
        self, access: ToolAccess, offered: Mapping[str, Tool], model: str | None
    ) -> tuple[str, ...]:
        """Return the ids that a rule for this call names and no tool has, each once."""
        override = self._override(access, model)
        allowed = access.enabled or () if override is None else override
        return tuple(
            dict.fromkeys(
                id_
                for id_ in (*allowed, *access.disabled)
                if not any(self._listed(tool, (id_,)) for tool in offered)
            )
        )

    def _listed(self, id_: str, ids: Sequence[str]) -> bool:
        if self.wildcards:
            return any(fnmatchcase(id_, pattern) for pattern in ids)
        return id_ in ids


def _by_id(tools: Iterable[Tool] | Mapping[str, Tool]) -> Mapping[str, Tool]:
    if isinstance(tools, Mapping):
        named = dict(cast("Mapping[str, Tool]", tools))
        for tool in named.values():
            _check_tool(tool)
        return MappingProxyType(named)
    found: dict[str, Tool] = {}
    for tool in tools:
        _check_tool(tool)
        if tool.name in found:
            raise DuplicateNameError(f"two tools are named {tool.name!r}", name=tool.name)
        found[tool.name] = tool
    return found


def _check_tool(tool: object) -> None:
    if not isinstance(tool, Tool):
        raise DefinitionError(f"a manifest selects among Tool values, not {type(tool).__name__}")
