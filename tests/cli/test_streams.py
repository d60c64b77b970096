"""Texts in and out, whatever the encoding."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections.cli import streams, tables
from promptsections.cli.failures import Failed


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "── 1 → 2 ≥ █░ …"),
        ("ascii", "-- 1 -> 2 >= #. ..."),
        ("cp1252", "-- 1 -> 2 >= #. ..."),
        ("latin-1", "-- 1 -> 2 >= #. ..."),
    ],
)
def test_tables_are_drawn_with_what_there_is(encoding: str, shown: str) -> None:
    assert streams.drawn("── 1 → 2 ≥ █░ …", stream(encoding)) == shown


def test_an_encoding_that_nobody_knows_shows_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(io.StringIO):
        encoding = "cp-of-the-moon"

    assert streams.drawn("→", Odd()) == "->"
    assert streams.is_utf8(Odd()) is False
    assert streams.is_utf8(stream("UTF8")) is True


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), st.integers(2, 9))
def test_a_text_is_read_as_it_was_written(text: str, size: int) -> None:
    """Every text comes back from UTF-8, marked or not, and from UTF-16, in pieces of any size."""
    if text.startswith("\ufeff"):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "_CHUNK", size)
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            data = text.encode(encoding)
            if encoding == "utf-8" and data.startswith((b"\xff\xfe", b"\xfe\xff")):
                continue
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
            assert "".join(streams.read_pieces("-")) == text


@pytest.mark.parametrize(
    ("data", "offset"),
    [(b"\xff", 0), (b"ab\xffcd", 2), ("é".encode() * 5 + b"\xc3", 10), (b"a" * 7 + b"\xe2\x82", 7)],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_first_byte_that_is_no_text_is_named(
    data: bytes, offset: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_CHUNK", size)
    path = tmp_path / "a.txt"
    path.write_bytes(data)

    with pytest.raises(Failed, match=f"no UTF-8 text: byte at offset {offset};"):
        streams.read_text(str(path))


def test_line_ends_become_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\r\nb\rc\n")

    assert streams.read_text(str(path)) == "a\nb\nc\n"
    assert "".join(streams.read_pieces(str(path))) == "a\r\nb\rc\n"


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_bar_is_never_wider_than_its_column(used: int, natural: int, budget: int) -> None:
    """What is sent shows if it is anything, and no bar is longer than 20 characters."""
    bar = tables.bar(used, natural, budget)

    assert len(bar) <= 20
    assert ("█" in bar) is (used > 0)
    assert bool(bar) is (max(used, natural) > 0)
