"""Templates in the languages of others, written as ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections import Template
from promptsections.config.dialects import (
    Piece,
    Untranslatable,
    Verbatim,
    read_braces,
    read_jinja,
    read_kernel,
    to_template,
    trimmed,
)
from promptsections.templates.nodes import Call, Text, Variable

literals = st.text(
    st.sampled_from("<{[@(\\>}]`'\"$ ab\n①") | st.characters(codec="utf-8"), max_size=6
)
names = st.sampled_from(["a", "b.c", "d-e.0"])
placed = st.one_of(
    st.builds(Text, literals),
    st.builds(Verbatim, literals),
    st.builds(Variable, names, st.just(0)),
    st.builds(
        Call,
        st.just("f"),
        st.just(0),
        st.lists(literals | st.builds(Variable, names, st.just(0)), max_size=2).map(tuple),
        st.dictionaries(st.sampled_from(["k", "m"]), literals).map(lambda d: tuple(d.items())),
    ),
)  # fmt: skip
VALUES = {"a": "<<$x>>", "b": {"c": "{{"}, "d-e": ["\\"]}


def shown(*arguments: object, **named: object) -> str:
    return f"{arguments!r}{named!r}"


def said(piece: object) -> str:
    match piece:
        case Text(text=text) | Verbatim(text=text):
            return text
        case Variable():
            return str(value_of(piece))
        case Call(arguments=arguments, keywords=keywords):
            return shown(*map(value_of, arguments), **{k: value_of(v) for k, v in keywords})
        case _:
            raise AssertionError(piece)


def value_of(value: object) -> object:
    found = {"a": "<<$x>>", "b.c": "{{", "d-e.0": "\\"}
    return found[value.path] if isinstance(value, Variable) else value


@given(st.lists(placed, max_size=8))
def test_any_pieces_can_be_written_as_a_template(pieces):
    """Whatever stands around a placeholder: half delimiters, backslashes, quotes."""
    template = to_template(pieces)

    assert template.render(VALUES, functions={"f": shown}) == "".join(map(said, pieces))


def test_our_own_delimiters_are_used_where_they_can_be() -> None:
    variable = Variable("a", 0)

    assert to_template([Text("x "), variable]) == Template("x <<$a>>")
    assert to_template([Text("<"), variable]).delimiters == ("{{", "}}")
    both = [Text("<"), variable, Text("{"), variable, Text("@"), variable]
    assert to_template(both).delimiters == ("@{", "}@")
    assert to_template(both).render({"a": "A"}) == "<A{A@A"


def test_pieces_are_trimmed_at_both_ends() -> None:
    variable = Variable("a", 0)

    assert trimmed([Text("\n "), Text(" x\n")]) == (Text("x"),)
    assert trimmed([Text("\n "), variable, Text(" ")], "\n") == (Text(" "), variable, Text(" "))
    assert trimmed([Text("\n"), variable, Text("\n")]) == (variable,)
    assert trimmed([Verbatim(" ")]) == (Verbatim(" "),)
    assert trimmed([]) == ()


LANGUAGES = [read_jinja, read_braces, read_kernel]


def refusal(language: Callable[[str], list[Piece]], source: str) -> Untranslatable | None:
    try:
        to_template(language(source))
    except Untranslatable as problem:
        return problem
    return None


@given(st.text(st.sampled_from("{}%#-!&>'\"\\ ab.|$"), max_size=20))
@pytest.mark.parametrize("language", LANGUAGES)
def test_any_text_is_read_or_refused_with_its_place(language, source):
    """Nothing else is ever raised."""
    problem = refusal(language, source)

    assert problem is None or 0 <= problem.position < len(source)


HOSTILE = ["{", "{{", "{{'", "{# ", "{% raw %}", "{{!", "{{a", "'", "{{ '\\"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", HOSTILE)
def test_long_hostile_templates_are_read_in_linear_time(language, part) -> None:
    """A quadratic reader would take minutes for these."""
    problem = refusal(language, part * 50_000)

    assert problem is None or problem.position < len(part) * 50_000


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ a }}{{ b['c'] }}{{ b.c }}{{ d['e-f'][0] }}", ["a", "b.c", "b.c", "d.e-f.0"]),
        ("{{ a . b [ 'c' ] }}", ["a.b.c"]),
        ('{{ a["it\\"s"] }}', None),
    ],
)
def test_paths_in_jinja(source: str, expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(Untranslatable, match="no plain variable"):
            read_jinja(source)
        return
    paths = [piece.path for piece in read_jinja(source) if isinstance(piece, Variable)]
    assert paths == expected


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a {{- 'x' -}} b", "axb"),
        ("a {#- x -#} b", "ab"),
        ("a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"),
        ("a {%+ raw +%} x {%+ endraw +%} b", "a  x  b"),
        ("{{ 'a\\nb' }}", "a\nb"),
        ("{{ '}}' }}", "}}"),
        ("{{ 'a\nb' }}", "a\nb"),
    ],
)
def test_white_space_and_texts_in_jinja(source: str, text: str) -> None:
    assert to_template(read_jinja(source)).render() == text


def test_a_comment_alone_on_its_line_takes_the_line_along() -> None:
    assert to_template(read_braces("a\n  {{! x }}  \nb {{!-- }} --}} c")).render() == "a\nb  c"
    assert to_template(read_braces("{{! x }}\n{{! y }}\na{{! z }}")).render() == "a"
