"""Files of a prompt: read as UTF-8 everywhere, and never outside their folder.

It knows bytes and names; it knows no format.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path, PurePosixPath, PureWindowsPath

from promptsections.errors import ConfigError

MAX_BYTES = 32 * 1024 * 1024
"""The largest file that is read; a prompt is text that people write."""

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*)?", re.IGNORECASE
)
"""Names that Windows takes for devices in any folder, whatever their ending."""


def read_text(path: Path) -> str:
    """Read a file as UTF-8, without a byte-order mark and with `\\n` as the end of each line.

    Raises:
        ConfigError: if there is no such file (`kind="missing"`), or it is no UTF-8 text.
    """
    full = path.absolute()
    try:
        if not full.is_file():
            there = "is no file" if full.exists() else "does not exist"
            raise ConfigError(f"{full} {there}", path=str(full), kind="missing")
        if full.stat().st_size > MAX_BYTES:
            raise _invalid(full, None, f"is larger than {MAX_BYTES:,} bytes")
        data = full.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(
            f"{full} cannot be read: {error}", path=str(full), kind="missing"
        ) from error
    return _decode(data, full)


def one_line_end(text: str) -> str:
    """Return a text whose lines all end in `\\n`, without a byte-order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def inside(folder: Path, name: str) -> Path:
    """Return the full path of a file in a folder, or below it.

    Raises:
        ConfigError: if the name leads out of the folder, by itself or through a link, or names a
            device.
    """
    root = folder.resolve()
    rule = _broken_rule(name)
    if rule is None:
        try:
            found = (root / name).resolve()
        except (OSError, RuntimeError):  # links in a circle
            found = root
        if found.is_relative_to(root) and found != root:
            return found
        rule = "leads out of the folder through a link"
        if all(part == "." for part in name.split("/")):
            rule = "is the folder itself"
    full = root / name if "\0" not in name else root
    raise ConfigError(
        f"{name!r} {rule}: name a file in {root}, with '/' between folders",
        path=str(full),
        kind="invalid",
    )


def _broken_rule(name: str) -> str | None:
    """Say why a name may lead out of its folder on some system, or `None`."""
    parts = name.replace("\\", "/").split("/")
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor:
        return "is absolute"
    if not name.strip() or not all(part.strip() for part in parts):
        return "is no name of a file"
    if ".." in (part.strip() for part in parts):
        return "leads out of the folder"
    if "\\" in name or ":" in name or any(ord(character) < 32 for character in name):
        return "holds a character that names of prompt files may not have"
    if any(_DEVICES.fullmatch(part.strip()) for part in parts):
        return "names a device"
    return None


def _decode(data: bytes, path: Path) -> str:
    if data.startswith(_UTF_16):
        raise _invalid(path, None, "is UTF-16: save it as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise _invalid(
            path, line, f"is no UTF-8: byte {byte:#04x} at offset {error.start:,}; save it as UTF-8"
        ) from None
    place = text.find("\0")
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise _invalid(path, line, f"holds a NUL character at offset {place:,}: is it a text?")
    return one_line_end(text)


def _invalid(path: Path, line: int | None, what: str) -> ConfigError:
    where = f"{path}:{line}" if line else str(path)
    return ConfigError(f"{where}: the file {what}", path=str(path), kind="invalid")
