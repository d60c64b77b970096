"""The table of models in the reference, written from the data; run as a script, it prints it."""

from __future__ import annotations

from collections.abc import Iterator

from promptsections.profiles import (
    CacheRule,
    CropImages,
    FlatImages,
    GridImages,
    ImageRule,
    ModelProfile,
    NoImages,
    PatchImages,
    TileImages,
)
from promptsections.profiles.models import MAKERS
from promptsections.tokens import ScaledTokenizer

HEAD = (
    "| model | text | window | output | images | messages | system | prefill | cache |",
    "|---|---|---|---|---|---|---|---|---|",
)
SYSTEM = {
    "anywhere": "anywhere",
    "leading": "first",
    "leading_and_after_user": "first, after user",
}


def lines() -> Iterator[str]:
    """Yield the lines of all tables."""
    for vendor in (maker.vendor() for maker in MAKERS):
        yield f"### {vendor.name}"
        yield ""
        yield from HEAD
        yield from map(row, vendor.models.values())
        yield ""


def row(profile: ModelProfile) -> str:
    """Write one model as a row."""
    cells = (
        f"`{profile.name}`",
        text(profile),
        f"{profile.context_window:,}",
        f"{profile.max_output_tokens:,}" if profile.max_output_tokens else "not known",
        images(profile.images) + (" (estimate)" if profile.images_are_estimate else ""),
        "estimate" if profile.overhead_is_estimate else "checked",
        SYSTEM[profile.system],
        "yes" if profile.prefill else "no",
        cache(profile.cache),
    )
    return f"| {' | '.join(cells)} |"


def text(profile: ModelProfile) -> str:
    match profile.encoding:
        case ScaledTokenizer(base=base, factor=factor):
            return f"`{base.name}` x {float(factor):g}"
        case encoding:
            return f"`{encoding}`"


def images(rule: ImageRule) -> str:
    match rule:
        case TileImages(base=base, tile=tile):
            return f"tiles, {base:,} + {tile:,}"
        case PatchImages(percent=percent, high=high):
            return f"patches, x {percent / 100:.2f}, {high.patches:,}"
        case GridImages(side=side, longest=longest, most=most):
            limit = f"{most:,} tokens" if most else f"{longest:,} pixels"
            return f"squares of {side}, at most {limit}"
        case CropImages(tile=tile):
            return f"crops of {tile}"
        case FlatImages(tokens=tokens):
            return f"flat, {tokens:,}"
        case NoImages():
            return "none"


def cache(rule: CacheRule | None) -> str:
    if rule is None:
        return "none"
    writes = "".join(f", {life.name} x {life.write:g}" for life in rule.lifetimes)
    return f"from {rule.minimum:,}, x {rule.read:g}{writes}"


if __name__ == "__main__":
    print("\n".join(lines()))  # noqa: T201
