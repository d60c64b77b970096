"""`Template`: a source, parsed once; it knows no sections and no event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar, cast

from attrs import field, frozen

from promptsections.errors import DefinitionError, NeedsEventLoopError
from promptsections.memory import lookup
from promptsections.templates.deferred import Deferred
from promptsections.templates.evaluate import Function, Undefined, evaluate
from promptsections.templates.lexer import check_delimiters
from promptsections.templates.nodes import Breakpoint, Call, Node, Text, Variable
from promptsections.templates.parser import parse

T = TypeVar("T")


@frozen(repr=False)
class Template:
    """A text with placeholders: `<<$variable>>` and `<<function 'argument' $variable key=value>>`.

    Parsed when it is constructed; immutable, hashable, equal to a template of equal source and
    delimiters.

    Raises:
        TemplateSyntaxError: the source is no template; the text shows the place.
        DefinitionError: the source is no string, or the delimiters cannot be used.
    """

    source: str
    """The template as it is written."""
    delimiters: tuple[str, str] = field(default=("<<", ">>"), kw_only=True)
    """What opens and what closes a placeholder; `("{{", "}}")` reads prompts of Teams AI."""
    nodes: tuple[Node, ...] = field(init=False, eq=False)
    """What the template is made of."""

    def __attrs_post_init__(self) -> None:
        source = cast("object", self.source)
        if not isinstance(source, str):
            raise DefinitionError(f"a template is a string, not {type(source).__name__}")
        delimiters = check_delimiters(self.delimiters)
        object.__setattr__(self, "source", str.__str__(source))  # a subclass may print otherwise
        object.__setattr__(self, "delimiters", delimiters)
        object.__setattr__(self, "nodes", parse(self.source, delimiters))

    def __repr__(self) -> str:
        start = self.source[:40]
        if len(start) < len(self.source):
            return f"<Template {start!r}… of {len(self.source):,} characters>"
        return f"<Template {start!r}>"

    @property
    def is_fixed(self) -> bool:
        """Whether it reads nothing, so that it always renders the same."""
        return all(isinstance(node, Text | Breakpoint) for node in self.nodes)

    @property
    def breakpoint(self) -> int | None:
        """How many nodes stand before `<<cache_breakpoint>>`; `None` if there is none."""
        for number, node in enumerate(self.nodes):
            if isinstance(node, Breakpoint):
                return number
        return None

    @property
    def variables(self) -> tuple[str, ...]:
        """The paths of its variables, arguments included, in the order of first appearance."""
        return variables_of(self.nodes)

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of its functions, in the order of first appearance."""
        return functions_of(self.nodes)

    def render(
        self,
        memory: object = None,
        *,
        functions: Mapping[str, Function] | None = None,
        undefined: Undefined = "error",
    ) -> str:
        """Render the template by itself, outside a prompt, without an event loop.

        Args:
            memory: A mapping, a `Memory`, or `None`.
            functions: Name → function; one that must be awaited is refused.
            undefined: `"empty"` renders a missing variable as nothing.

        Raises:
            ResolutionError: as `evaluate` says.
        """
        names = _Standalone(memory, functions or {}, undefined, may_await=False)
        return _finish(evaluate(self, names))

    async def arender(
        self,
        memory: object = None,
        *,
        functions: Mapping[str, Function] | None = None,
        undefined: Undefined = "error",
    ) -> str:
        """Render as `render` does, with functions that may be awaited, one after the other."""
        names = _Standalone(memory, functions or {}, undefined, may_await=True)
        return await evaluate(self, names)


def variables_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the paths of variables, arguments included, in the order of first appearance."""
    paths: dict[str, None] = {}
    for node in nodes:
        match node:
            case Variable():
                paths[node.path] = None
            case Call():
                values = (*node.arguments, *(value for _, value in node.keywords))
                paths |= {value.path: None for value in values if isinstance(value, Variable)}
            case _:
                pass
    return tuple(paths)


def functions_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the names of functions, in the order of first appearance."""
    return tuple(dict.fromkeys(node.name for node in nodes if isinstance(node, Call)))


@frozen
class _Standalone:
    """The scope of a template that is rendered by itself."""

    memory: object
    functions: Mapping[str, Function]
    undefined: Undefined
    may_await: bool = field(kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.undefined not in ("error", "empty"):
            raise DefinitionError(f"undefined must be 'error' or 'empty', not {self.undefined!r}")

    def read(self, path: str, default: object = None, /) -> object:
        """Return the value at a path, or the default."""
        return lookup(self.memory, path, default)

    def evaluate(self, template: str | Template) -> Deferred[str]:
        """Render another template with the same names."""
        inner = template if isinstance(template, Template) else Template(template)
        return Deferred(lambda: evaluate(inner, self))

    def report_missing(self, path: str, position: int, /) -> None:
        """Do nothing: who asked for `undefined="empty"` here has no report to read."""

    async def in_thread(self, function: Callable[[], str], /) -> str:
        """Call the function here: threads are the business of a renderer."""
        return function()

    async def gather(self, calls: Sequence[Callable[[], Awaitable[object]]], /) -> Sequence[object]:
        """Await one call after the other; concurrency is the business of a renderer."""
        return [await call() for call in calls]


def _finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("T", done.value)
    coroutine.close()
    raise NeedsEventLoopError("render() cannot wait: write `await template.arender(…)`")
