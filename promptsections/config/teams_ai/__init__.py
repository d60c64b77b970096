"""Prompt folders of Teams AI: `skprompt.txt`, `config.json`, `actions.json`."""

from promptsections.config.teams_ai.augmentation import AUGMENTATIONS, Augmentation
from promptsections.config.teams_ai.directory import PromptFolder
from promptsections.config.teams_ai.folder import ReadingOptions, read_folder
from promptsections.config.teams_ai.sections import (
    TEAMS_AI_KINDS,
    TurnHistory,
    TurnInput,
    TurnSource,
)

__all__ = [
    "AUGMENTATIONS",
    "TEAMS_AI_KINDS",
    "Augmentation",
    "PromptFolder",
    "ReadingOptions",
    "TurnHistory",
    "TurnInput",
    "TurnSource",
    "read_folder",
]
