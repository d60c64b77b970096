"""Where what a command speaks of is written; it knows prompt files, and prints nothing."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from promptsections.cli.failures import as_failure
from promptsections.config import Place
from promptsections.errors import PromptSectionsError


@contextmanager
def placed(places: Mapping[str, Place]) -> Generator[None]:
    """Say of an error inside where its section is written."""
    try:
        yield
    except PromptSectionsError as error:
        place = place_of(getattr(error, "section", None), places)
        raise as_failure(error, shown(place) if place else "") from error


def place_of(section: str | None, places: Mapping[str, Place]) -> Place | None:
    """Find the place of a section, or of the nearest group around it."""
    path = section
    while path:
        if path in places:
            return places[path]
        path = path.rpartition("/")[0]
    return None


def shown(place: Place) -> str:
    """Write a place, its file from the current directory if it lies below it."""
    try:
        file = place.file.absolute().relative_to(Path.cwd())
    except (OSError, ValueError):
        return str(place)
    return str(Place(file, place.line))
