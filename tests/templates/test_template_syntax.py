"""What a template may look like, and what its errors say."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptsections.errors import DefinitionError, TemplateSyntaxError
from promptsections.templates import Template, escape
from promptsections.templates.lexer import is_name
from promptsections.templates.nodes import Call, Text, Variable

PIECES = st.sampled_from(
    ["<<", ">>", "\\", "$", "a", "b.c", " ", "\n", "'", '"', "`", "=", "k=", "f ", "é", "<", "\t"]
)
SOURCES = st.lists(PIECES | st.characters(codec=None), max_size=30).map("".join)


def arguments(source: str) -> tuple[tuple[object, ...], dict[str, object]]:
    [call] = Template(source).nodes
    assert isinstance(call, Call)
    return call.arguments, dict(call.keywords)


@pytest.mark.parametrize(
    ("source", "positional", "keywords"),
    [
        ("<<f>>", (), {}),
        ("<<f a b>>", ("a", "b"), {}),
        ("<<f\ta\n b >>", ("a", "b"), {}),
        ("<<f '' x>>", ("", "x"), {}),
        (r"<<f 'it\'s' 'a\\b' '\n' '\"'>>", ("it's", "a\\b", r"\n", r"\""), {}),
        ("<<f 'a >> b << c'>>", ("a >> b << c",), {}),
        ("<<f k=v b k2='x y' z=$p>>", ("b",), {"k": "v", "k2": "x y", "z": Variable("p", 0)}),
        ("<<f url=http://x?a=b http://x?a=b>>", ("http://x?a=b",), {"url": "http://x?a=b"}),
        ("<<f a.b=c =d e>f U$D>>", ("a.b=c", "=d", "e>f", "U$D"), {}),
        ("<<f k=''>>", (), {"k": ""}),
        ("<<f $x.y $1>>", (Variable("x.y", 0), Variable("1", 0)), {}),
    ],
)
def test_call_takes_arguments_as_written(
    source: str, positional: tuple[object, ...], keywords: dict[str, object]
) -> None:
    assert arguments(source) == (positional, keywords)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("<<>>", "empty"),
        ("<< >>", "empty"),
        ("<<", "not closed"),
        ("<<$x", "not closed"),
        ("<<f a", "not closed"),
        ("<<f 'a>>", "quote ' is not closed"),
        ('<<f k="a>>', 'quote " is not closed'),
        ("<<f 'a''b'>>", "apart"),
        ("<<f 'a'b>>", "apart"),
        ("<<f a'b'>>", "apart"),
        ("<<f k='a'b>>", "apart"),
        ("<<f <<g>> >>", "`<<` stands inside"),
        ("<<f a<<b>>", "`<<` stands inside"),
        ("<<f k=<<b>>", "`<<` stands inside"),
        ("<<'f' a>>", "begins with"),
        ("<<$x y>>", "'$x y'"),
        ("<<$x's>>", "$x'"),
        ("<<$x<<", "'$x<<'"),
        ("<<$ x>>", "'$' is no name"),
        ("<<$a..b>>", "'$a..b' is no name"),
        ("<<$.a>>", "'$.a' is no name"),
        ("<<$a!>>", "'$a!' is no name"),
        ("<<f $a!>>", "'$a!' is no name"),
        ("<<{f>>", "'{f' is no name"),
        ("<<f=1>>", "'f=1' is no name"),
        ("<<f k=1 k=2>>", "'k' is given twice"),
        ("<<f k= >>", "'k' has no value"),
        ("<<f k=>>", "'k' has no value"),
    ],
)
def test_invalid_placeholder_is_refused_where_it_opens(source: str, problem: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        Template("one\ntwo \\<< " + source)

    error = caught.value
    assert problem in str(error)
    assert r"Write `\<<` for a literal `<<`" in str(error)
    assert (error.position, error.line, error.column) == (12, 2, 9)
    shown, caret = str(error).splitlines()[1:3]
    assert shown.startswith("two \\<< " + source[:2])
    assert caret == " " * 8 + "^"


def test_error_shows_at_most_eighty_characters_of_the_line() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        Template("secret " + "é\t" * 100 + "<<f !" + " x" * 100 + " secret\nsecret <<")

    _, shown, caret, _ = str(caught.value).splitlines()
    assert len(shown) == 80
    assert shown[caret.index("^")] == "<"
    assert (shown[0], shown[-1]) == ("…", "…")
    assert "secret" not in str(caught.value)


def test_error_quotes_a_long_word_shortened() -> None:
    with pytest.raises(TemplateSyntaxError, match=r"'\$a+…' is no name") as caught:
        Template("<<$" + "a" * 5_000 + "!>>")

    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\<<", "<<"),
        (r"\\<<$x>>", "\\X"),
        (r"\\\<<$x>>", r"\<<$x>>"),
        (r"\\\\<<$x>>", r"\\X"),
        (r"a\b \> \<", r"a\b \> \<"),
        ("<$x>> < <", "<$x>> < <"),
        ("<<$x>>>", "X>"),
        ("", ""),
    ],
)
def test_backslash_makes_an_opening_delimiter_text(source: str, text: str) -> None:
    assert Template(source).render({"x": "X"}) == text


@given(SOURCES)
def test_escaped_text_renders_to_itself(text: str) -> None:
    """Any text, escaped, is a template without placeholders that renders that text."""
    template = Template(escape(text))

    assert template.render() == Template("<<$x>>").render({"x": text})
    assert all(isinstance(node, Text) for node in template.nodes)


@given(SOURCES, SOURCES)
def test_escaped_text_keeps_its_neighbours(before: str, after: str) -> None:
    """Escaping also holds with a placeholder between two texts."""
    source = f"{escape(before)} <<$x>>{escape(after)}"

    assert Template(source).render({"x": "-"}) == Template(escape(f"{before} -{after}")).render()


def parse_or_error(source: str) -> Template | TemplateSyntaxError:
    try:
        return Template(source)
    except TemplateSyntaxError as error:
        return error


@given(SOURCES)
def test_parse_raises_nothing_but_syntax_errors(source: str) -> None:
    """Any text is a template, or a `TemplateSyntaxError` at one of its opening delimiters."""
    parsed = parse_or_error(source)

    if isinstance(parsed, TemplateSyntaxError):
        assert source.startswith("<<", parsed.position)
        assert parsed.line == source.count("\n", 0, parsed.position) + 1
        assert source.split("\n")[parsed.line - 1][parsed.column - 1 :].startswith("<<")
        return
    for node in parsed.nodes:
        if not isinstance(node, Text):
            assert source.startswith("<<", node.position)
    assert all(map(is_name, (*parsed.variables, *parsed.functions)))


@given(st.from_regex(r"[\w-]+(\.[\w-]+)*", fullmatch=True), st.sampled_from(["", " ", "\n\t "]))
def test_every_name_names_a_variable(name: str, padding: str) -> None:
    """Names of letters, digits, `_`, `-` and dots are read exactly, whatever pads them."""
    template = Template(f"<<{padding}${name}{padding}>>")

    assert template.variables == (name,)
    assert template.render({name: "v"}) == "v"


@pytest.mark.parametrize("name", ["имя", "名前", "cafe\u0301", "user-name", "1st", "_x", "नमस्ते"])
def test_name_may_hold_letters_marks_and_digits_of_any_script(name: str) -> None:
    assert Template(f"<<$a.{name}>>").render({"a": {name: 1}}) == "1"


def test_template_knows_its_variables_and_functions_in_order() -> None:
    template = Template("<<f $b k=$c>> <<$a>> <<g>> <<$b.x>> <<f>> <<$a>> x")

    assert template.variables == ("b", "c", "a", "b.x")
    assert template.functions == ("f", "g")


def test_template_is_equal_by_source_and_delimiters() -> None:
    template = Template("{{$x}} <<", delimiters=("{{", "}}"))
    same: Any = Template("{{$x}} <<", delimiters=["{{", "}}"])  # type: ignore[arg-type]

    assert template == same
    assert hash(template) == hash(same)
    assert template != Template("{{$x}}", delimiters=("{{", "}}"))
    assert Template("x") != Template("x", delimiters=("{{", "}}"))
    assert pickle.loads(pickle.dumps(template)) == copy.deepcopy(template) == template
    assert pickle.loads(pickle.dumps(template)).render({"x": 1}) == "1 <<"


def test_template_is_immutable() -> None:
    with pytest.raises(AttributeError):
        Template("x").source = "y"  # type: ignore[misc]


def test_repr_never_shows_a_long_source() -> None:
    assert repr(Template("x" * 41)) == f"<Template '{'x' * 40}'… of 41 characters>"
    assert repr(Template("short")) == "<Template 'short'>"


def test_source_must_be_a_string() -> None:
    with pytest.raises(DefinitionError, match="not int"):
        Template(5)  # type: ignore[arg-type]


def test_subclass_of_str_becomes_a_plain_string() -> None:
    class Loud(str):
        def __str__(self) -> str:
            return self.upper()

    assert type(Template(Loud("quiet")).source) is str
    assert Template(Loud("quiet")).render() == "quiet"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("{{", "}}"), ("${", "}"), ("<%=", "%>"), ("[", "]"), ("|", "||"), ("<!--", ">"), ("«", "»")],
)
def test_delimiters_can_be_chosen(opening: str, closing: str) -> None:
    source = (
        f"\\{opening} {opening} $x {closing}{opening}f 'y'{closing} << >> \\\\{opening}$x{closing}"
    )
    template = Template(source, delimiters=(opening, closing))

    text = template.render({"x": "X"}, functions={"f": str.upper})

    assert text == f"{opening} XY << >> \\X"
    escaped = escape(source, delimiters=(opening, closing))
    assert Template(escaped, delimiters=(opening, closing)).render() == source


@pytest.mark.parametrize(
    "delimiters",
    [
        ("", ">>"),
        ("<<", ""),
        ("<<", "<<"),
        ("< <", ">>"),
        ("<<", ">'"),
        ("\\(", ")"),
        ("<<", "end"),
        ("<<", "=>"),
        ("<<", ".."),
        ("<<", "$"),
        ("<<",),
        "<>",
        None,
        (1, 2),
    ],
)
def test_delimiters_that_hide_content_are_refused(delimiters: Any) -> None:
    with pytest.raises(DefinitionError, match="delimiter"):
        Template("x", delimiters=delimiters)
