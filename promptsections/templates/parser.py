"""Turns a source into nodes; it knows the grammar and no values.

```
template    = { text | placeholder }
placeholder = OPEN [space] ( "$" name | call | "cache_breakpoint" ) [space] CLOSE
call        = name { space argument }
argument    = value | part "=" value
value       = quoted | "$" name | word
```
"""

from __future__ import annotations

from typing import NoReturn

from attrs import define, field

from promptsections.errors import TemplateSyntaxError
from promptsections.templates.lexer import Kind, Lexeme, Lexer, is_name
from promptsections.templates.nodes import (
    BREAKPOINTS,
    Argument,
    Breakpoint,
    Call,
    Node,
    Text,
    Variable,
)
from promptsections.templates.places import excerpt, place_of, shorten


def parse(source: str, delimiters: tuple[str, str] = ("<<", ">>")) -> tuple[Node, ...]:
    """Parse a template.

    Args:
        source: The template as it is written.
        delimiters: What opens and what closes a placeholder.

    Raises:
        TemplateSyntaxError: at an opening delimiter that opens no valid placeholder, or a second
            cache breakpoint.
    """
    lexer = Lexer(source, *delimiters)
    nodes: list[Node] = []
    end = 0
    while True:
        text, position = lexer.opening_after(end)
        if text:
            nodes.append(Text(text))
        if position < 0:
            return tuple(nodes)
        placeholder = _Placeholder(lexer, position)
        node = placeholder.parse()
        if isinstance(node, Breakpoint) and any(isinstance(n, Breakpoint) for n in nodes):
            placeholder.fail("there is a cache breakpoint before it; a prompt has one at most")
        nodes.append(node)
        end = placeholder.end


@define
class _Placeholder:
    """Reads one placeholder from its opening delimiter on."""

    lexer: Lexer
    position: int
    end: int = field(init=False)
    """Offset of the character after the last lexeme."""

    def parse(self) -> Variable | Call | Breakpoint:
        self.end = self.position + len(self.lexer.opening)
        first = self._after_space()[1]
        if first.kind is Kind.CLOSE:
            self.fail("the placeholder is empty")
        if first.kind is not Kind.WORD:
            self._fail_at(first)
        if first.text.startswith("$"):
            variable = self._variable(first.text)
            following = self._after_space()[1]
            if following.kind is not Kind.CLOSE:
                self._fail_after_variable(following)
            return variable
        if not is_name(first.text):
            self.fail(f"{shorten(first.text)} is no name of a variable (`$name`) or function")
        call = self._call(first.text)
        if call.name not in BREAKPOINTS:
            return call
        if call.arguments or call.keywords:
            self.fail(f"`{call.name}` takes no arguments: it marks where the stable text ends")
        return Breakpoint(self.position)

    def _call(self, name: str) -> Call:
        arguments: list[Argument] = []
        keywords: dict[str, Argument] = {}
        while True:
            spaced, lexeme = self._after_space()
            match lexeme.kind:
                case Kind.CLOSE:
                    return Call(name, self.position, tuple(arguments), tuple(keywords.items()))
                case Kind.QUOTED | Kind.WORD if not spaced:
                    self.fail("arguments must stand apart: put white space between them")
                case Kind.QUOTED:
                    arguments.append(lexeme.text)
                case Kind.WORD:
                    key, equals, word = lexeme.text.partition("=")
                    if not equals or "." in key or not is_name(key):
                        arguments.append(self._word(lexeme.text))
                    elif key in keywords:
                        self.fail(f"the keyword {shorten(key)} is given twice")
                    else:
                        keywords[key] = self._word(word) if word else self._quoted_value(key)
                case _:
                    self._fail_at(lexeme)

    def _quoted_value(self, key: str) -> str:
        lexeme = self._next()
        if lexeme.kind in (Kind.SPACE, Kind.CLOSE):
            self.fail(f"the keyword {shorten(key)} has no value; '' is an empty one")
        if lexeme.kind is not Kind.QUOTED:
            self._fail_at(lexeme)
        return lexeme.text

    def _word(self, word: str) -> Argument:
        return self._variable(word) if word.startswith("$") else word

    def _variable(self, word: str) -> Variable:
        if not is_name(word[1:]):
            self.fail(f"{shorten(word)} is no name of a variable")
        return Variable(word[1:], self.position)

    def _next(self) -> Lexeme:
        lexeme = self.lexer.lexeme_at(self.end)
        self.end = lexeme.end
        return lexeme

    def _after_space(self) -> tuple[bool, Lexeme]:
        """Return whether white space came, and the lexeme after it."""
        lexeme = self._next()
        return (True, self._next()) if lexeme.kind is Kind.SPACE else (False, lexeme)

    def _fail_after_variable(self, following: Lexeme) -> NoReturn:
        if following.kind is Kind.END:
            self._fail_at(following)
        wrong = self.lexer.source[self.position + len(self.lexer.opening) : following.end]
        self.fail(f"nothing but white space may follow a variable: {shorten(wrong)}")

    def _fail_at(self, lexeme: Lexeme) -> NoReturn:
        opening, closing = self.lexer.opening, self.lexer.closing
        match lexeme.kind:
            case Kind.END:
                self.fail(f"the placeholder is not closed, `{closing}` is missing")
            case Kind.OPEN:
                self.fail(f"`{opening}` stands inside the placeholder; only quotes may hold it")
            case Kind.UNCLOSED_QUOTE:
                self.fail(f"the quote {lexeme.text} is not closed")
            case _:
                self.fail("a placeholder begins with `$name` or the name of a function")

    def fail(self, problem: str) -> NoReturn:
        """Raise the error of this placeholder."""
        source, opening, closing = self.lexer.source, self.lexer.opening, self.lexer.closing
        place = place_of(source, self.position)
        raise TemplateSyntaxError(
            f"{place}: {problem}\n{excerpt(source, self.position)}\n"
            f"Write `\\{opening}` for a literal `{opening}`; placeholders look like "
            f"`{opening}$name{closing}` or `{opening}function 'argument'{closing}`.",
            position=self.position,
            line=place.line,
            column=place.column,
        )
