"""Presets of instructions, and the rules that choose one for each turn of a conversation.

A choice holds for some turns, so that the tone does not jump. What is remembered from turn to turn
goes in and comes out: nothing is kept here. It knows texts only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from attrs import evolve, field, frozen

from promptsections.errors import DefinitionError

Match = Literal["equal", "prefix", "substring"]
"""How a mode is compared with that of a rule; case does not matter."""


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise DefinitionError(f"{values!r} must be a list of texts: put it in brackets")
    return tuple(values)


@frozen
class Preset:
    """Instructions that go together."""

    id: str
    instructions: str = ""
    addons: tuple[str, ...] = field(default=(), converter=_texts)
    """Keys of more instructions, which the router holds."""


@frozen(kw_only=True)
class PresetRule:
    """When a preset is chosen: everything that the rule asks for must hold."""

    id: str
    preset: str
    """Id of the preset."""
    priority: int = 0
    """The highest rule that holds decides; of equals, the first."""
    modes: tuple[str, ...] = field(default=(), converter=_texts)
    """One of them must match the mode of the turn; none: any mode."""
    match: Match = "equal"
    """Whether the turn's mode must be one of `modes`, begin with it or contain it."""
    min_chars: int | None = None
    """The shortest message, in characters."""
    max_chars: int | None = None
    """The longest message, in characters."""
    any_of: tuple[str, ...] = field(default=(), converter=_texts)
    """Words and phrases, one of which the message must hold, whatever its case."""
    all_of: tuple[str, ...] = field(default=(), converter=_texts)
    """Words and phrases, all of which it must hold."""
    whole_words: bool = True
    """Whether they must stand as words: "plan" is not in "explanation"."""

    def __attrs_post_init__(self) -> None:
        if self.match not in get_args(Match):
            raise DefinitionError(
                f"rule {self.id!r}: match={self.match!r} must be one of "
                f"{', '.join(get_args(Match))}"
            )
        for what in ("modes", "any_of", "all_of"):
            if not all(map(str.strip, getattr(self, what))):
                raise DefinitionError(f"rule {self.id!r}: {what} has an empty text, always matched")
        least, most = self.min_chars or 0, self.max_chars
        if least < 0 or (most is not None and most < least):
            raise DefinitionError(
                f"rule {self.id!r}: no message has {self.min_chars} to {self.max_chars} characters"
            )

    def holds(self, mode: str, message: str) -> bool:
        """Say whether the rule is for this turn."""
        length = len(message)
        return (
            (not self.modes or any(_matches(self.match, own, mode) for own in self.modes))
            and (self.min_chars is None or length >= self.min_chars)
            and (self.max_chars is None or length <= self.max_chars)
            and (not self.any_of or any(self._says(word, message) for word in self.any_of))
            and all(self._says(word, message) for word in self.all_of)
        )

    def _says(self, word: str, message: str) -> bool:
        sought, text = word.strip().casefold(), message.casefold()
        if not self.whole_words:
            return sought in text
        # Not \b: a keyword such as "c++" ends in no letter.
        return re.search(rf"(?<!\w){re.escape(sought)}(?!\w)", text) is not None


def _matches(match: Match, own: str, mode: str) -> bool:
    sought, given = own.strip().casefold(), mode.strip().casefold()
    if match == "equal":
        return given == sought
    return given.startswith(sought) if match == "prefix" else sought in given


@frozen
class RouterState:
    """What a router remembers of a conversation; plain data, to be stored."""

    preset: str
    """Id of the preset that was chosen last."""
    turns: int = 0
    """How many turns have used that choice again since."""


@frozen(kw_only=True)
class PresetChoice:
    """The preset of a turn, and why."""

    preset: Preset
    instructions: str
    """The texts of the preset and of its addons, parted by blank lines."""
    reason: str
    """`rule:…`, `mode:…` (the same mode), `mode_pattern:…`, `default`, `kept`."""
    reviewed: bool
    """Whether the rules were asked in this turn."""
    state: RouterState
    """Goes into the next turn."""


@frozen(kw_only=True)
class PresetRouter:
    """Chooses a preset by rules, then by mode, then the default.

    Raises:
        DefinitionError: a preset or an addon is named and not there, or two have the same id.
    """

    presets: tuple[Preset, ...] = field(converter=tuple[Preset, ...])
    default: str
    """Id of the preset where nothing else says."""
    rules: tuple[PresetRule, ...] = field(default=(), converter=tuple[PresetRule, ...])
    by_mode: Mapping[str, str] = field(factory=dict[str, str], hash=False)
    """Mode → id of its preset. The same mode wins, then the longest that is part of the mode."""
    addons: Mapping[str, str] = field(factory=dict[str, str], hash=False)
    """Key → instructions."""
    review_every: int = 6
    """For so many turns a choice holds, the turn in which it was made included."""
    separator: str = "\n\n"
    """Stands between instructions."""

    def __attrs_post_init__(self) -> None:
        known = {preset.id for preset in self.presets}
        if len(known) < len(self.presets):
            raise DefinitionError("PresetRouter: two presets have the same id")
        named = [self.default, *self.by_mode.values(), *(rule.preset for rule in self.rules)]
        for id_ in named:
            if id_ not in known:
                raise DefinitionError(
                    f"PresetRouter: there is no preset {id_!r}: there are "
                    f"{', '.join(sorted(known)) or 'none'}"
                )
        for preset in self.presets:
            for key in preset.addons:
                if key not in self.addons:
                    raise DefinitionError(f"PresetRouter: {preset.id!r} names no addon: {key!r}")
        every = self.review_every
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(f"PresetRouter: review_every={every!r} must be 1 turn or more")

    def choose(
        self,
        message: str,
        *,
        mode: str = "",
        state: RouterState | None = None,
        review: bool = False,
    ) -> PresetChoice:
        """Return the preset of a turn.

        Args:
            message: What the user says.
            mode: What the conversation is about, as the application names it.
            state: Of the last turn's choice; `None` at the first turn.
            review: Ask the rules at once, such as after a history was summarised.
        """
        kept = None if state is None else self._preset(state.preset)
        if state is not None and kept is not None and not review:
            again = evolve(state, turns=state.turns + 1)
            if again.turns < self.review_every:
                return self._chosen(kept, "kept", again, reviewed=False)
        id_, reason = self._decide(mode, message)
        chosen = self._preset(id_)
        assert chosen is not None  # __attrs_post_init__ looked
        return self._chosen(chosen, reason, RouterState(id_), reviewed=True)

    def _decide(self, mode: str, message: str) -> tuple[str, str]:
        for rule in sorted(self.rules, key=lambda rule: -rule.priority):
            if rule.holds(mode, message):
                return rule.preset, f"rule:{rule.id}"
        for own, id_ in self.by_mode.items():
            if _matches("equal", own, mode):
                return id_, f"mode:{own}"
        for own in sorted(self.by_mode, key=len, reverse=True):
            if own.strip() and _matches("substring", own, mode):
                return self.by_mode[own], f"mode_pattern:{own}"
        return self.default, "default"

    def _chosen(
        self, preset: Preset, reason: str, state: RouterState, *, reviewed: bool
    ) -> PresetChoice:
        texts = [preset.instructions, *(self.addons[key] for key in preset.addons)]
        return PresetChoice(
            preset=preset,
            instructions=self.separator.join(text for text in texts if text),
            reason=reason,
            reviewed=reviewed,
            state=state,
        )

    def _preset(self, id_: str) -> Preset | None:
        return next((preset for preset in self.presets if preset.id == id_), None)
