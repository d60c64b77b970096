"""Every error that the engine raises: its type, what it carries, and that it says what to do."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

import promptsections as ps
from promptsections import (
    Auto,
    ConversationHistory,
    DataSourceSection,
    FunctionCallMessage,
    FunctionResponseMessage,
    GroupSection,
    MemorySection,
    Message,
    ModelProfile,
    NewestFirst,
    Prompt,
    PromptSection,
    Renderer,
    Scope,
    TextSection,
    Tokens,
    ToolCall,
    UserInput,
    UserMessage,
    lay_out,
)

CALL = ToolCall("c1", "f", "{}")


def by_words(**options: Any) -> Renderer:
    return Renderer(tokenizer=lambda text: len(text.split()), **options)


def render(*sections: PromptSection, memory: Any = None, budget: Any = 100, **options: Any) -> Any:
    return by_words(**options).render(Prompt(sections), memory, budget=budget)


def fails(*_: object, **__: object) -> Any:
    raise ZeroDivisionError("nothing to divide by")


def again(scope: Scope) -> Any:
    return scope.evaluate("<<f>>")


async def waits(*_: object) -> Any:
    raise AssertionError("this must not have been started")


@attrs.frozen
class Says(PromptSection):
    """Resolves to what it was given."""

    what: Any

    def resolve(self, scope: Scope, /) -> Any:
        return self.what


@attrs.frozen
class Within(PromptSection):
    def resolve(self, scope: Scope, /) -> Any:
        return scope.resolve(self)


@attrs.frozen
class Later(PromptSection):
    async def resolve(self, scope: Scope, /) -> Any:
        raise AssertionError("this must not have been started")


@attrs.frozen
class OfFramework(PromptSection):
    def resolve(self, scope: Scope, /) -> Any:
        return scope.context_as(bytes).decode()


def unread() -> Any:
    store = NewestFirst(lambda: iter([Message("user", "a b c")] * 50))
    resolved = by_words().resolve(Prompt([ConversationHistory()]), {"history": store}, budget=20)
    return lay_out(resolved, 200)


Case = tuple[Callable[[], Any], type[ps.PromptSectionsError], Mapping[str, Any], tuple[str, ...]]
NEAR = ("name", "suggestions")

# What is done, what it raises, what the error carries, what it says.
CASES: dict[str, Case] = {
    "syntax": (
        lambda: UserMessage("Dear\nreader <<$x"),
        ps.TemplateSyntaxError,
        {"position": 12, "line": 2, "column": 8},
        ("line 2, column 8", "^", ">>", r"\<<"),
    ),
    "section's budget": (
        lambda: TextSection("x", tokens=1, name="h"),  # type: ignore[arg-type]
        ps.InvalidBudgetError,
        {"value": 1, "section": "h"},
        ("'h'", "Tokens(1)", "1.0"),
    ),
    "budget of a kind of section": (
        lambda: UserInput(tokens=0),  # type: ignore[arg-type]
        ps.InvalidBudgetError,
        {"value": 0, "section": "user_input"},
        ("'user_input'", "tokens=0"),
    ),
    "reservation above a limit": (
        lambda: Tokens(5, at_least=9),
        ps.InvalidBudgetError,
        {"section": None},
        ("9", "5"),
    ),
    "render's budget": (
        lambda: render(budget=0),
        ps.InvalidBudgetError,
        {"value": 0, "section": None},
        ("budget=0", "whole number"),
    ),
    "no budget": (
        lambda: render(budget=None),
        ps.InvalidBudgetError,
        {"section": None},
        ("no context window", "budget="),
    ),
    "budget above the window": (
        lambda: Renderer("gpt-4o").render(Prompt([]), budget=10**9),
        ps.InvalidBudgetError,
        {"value": 10**9},
        ("gpt-4o", "128000", str(10**9)),
    ),
    "budget and reserve above the window": (
        lambda: Renderer("gpt-4o").render(Prompt([]), budget=127_000, reserve_output_tokens=5_000),
        ps.InvalidBudgetError,
        {"value": 127_000},
        ("127000", "5000", "128000"),
    ),
    "reserve": (
        lambda: Renderer("gpt-4o", reserve_output_tokens="5").render(Prompt([])),  # type: ignore[arg-type]
        ps.InvalidBudgetError,
        {"value": "5"},
        ("reserve_output_tokens='5'",),
    ),
    "same name twice": (
        lambda: Prompt([TextSection("a", name="x"), TextSection("b", name="x")]),
        ps.DuplicateNameError,
        {"name": "x"},
        ("'x'",),
    ),
    "same tool twice": (
        lambda: Prompt([], tools=[ps.Tool("t"), ps.Tool("t")]),
        ps.DuplicateNameError,
        {"name": "t"},
        ("'t'",),
    ),
    "unknown model": (
        lambda: Renderer("gpt-4oo"),
        ps.UnknownModelError,
        {"name": "gpt-4oo"},
        ("'gpt-4oo'", "gpt-4o", "profiles=", "ModelProfile("),
    ),
    "undefined variable": (
        lambda: render(UserMessage("Hi <<$user.nam>>"), memory={"user": {"name": "Ann"}}),
        ps.UndefinedVariableError,
        {"name": "user.nam", "suggestions": ("user.name",), "position": 3,
         "section": "user_message"},
        ("'user_message'", "'user.nam'", "did you mean 'user.name'?"),
    ),
    "undefined input": (
        lambda: render(UserInput(name="ask"), memory={"inptu": "x"}),
        ps.UndefinedVariableError,
        {"name": "input", "suggestions": ("inptu",), "position": None, "section": "ask"},
        ("'ask'", "did you mean 'inptu'?"),
    ),
    "attribute": (
        lambda: render(UserMessage("<<$user.name>>"), memory={"user": CALL}),
        ps.UndefinedVariableError,
        {"name": "user.name"},
        ("ToolCall", "attributes are never read", "asdict"),
    ),
    "unknown function": (
        lambda: render(UserMessage("x <<tody>>", required=False), functions={"today": str}),
        ps.UnknownFunctionError,
        {"name": "tody", "suggestions": ("today",), "position": 2, "section": "user_message"},
        ("'tody'", "did you mean 'today'?", "functions="),
    ),
    "function that raises": (
        lambda: render(UserMessage("x <<f>>"), functions={"f": fails}),
        ps.FunctionError,
        {"name": "f", "position": 2, "section": "user_message", "cause": ZeroDivisionError},
        ("'f'", "ZeroDivisionError", "line 1, column 3"),
    ),
    "value without a text": (
        lambda: render(UserMessage("<<$v>>"), memory={"v": float("nan")}),
        ps.ValueRenderError,
        {"name": "v", "section": "user_message"},
        ("'v'", "NaN"),
    ),
    "result without a text": (
        lambda: render(FunctionCallMessage(CALL), FunctionResponseMessage("c1", object())),
        ps.ValueRenderError,
        {"section": "function_response_message"},
        ("object",),
    ),
    "source that raises": (
        lambda: render(DataSourceSection(fails, name="docs", required=True)),
        ps.DataSourceError,
        {"section": "docs", "cause": ZeroDivisionError},
        ("'docs'", "fails", "ZeroDivisionError: nothing to divide by"),
    ),
    "source that raises, dropping forbidden": (
        lambda: render(DataSourceSection(fails), on_failure="raise"),
        ps.DataSourceError,
        {"section": "data_source", "cause": ZeroDivisionError},
        ("'data_source'",),
    ),
    "section that raises": (
        lambda: render(Says(fails), MakesTrouble(name="mine")),
        ps.DefinitionError,
        {},
        ("'says'", "function"),
    ),
    "section's own exception": (
        lambda: render(MakesTrouble(name="mine")),
        ps.ResolutionError,
        {"section": "mine", "cause": KeyError},
        ("'mine'", "MakesTrouble.resolve()", "KeyError: 'k'"),
    ),
    "sections without end": (
        lambda: render(Within(required=False)),
        ps.RecursionLimitError,
        {"section": "within"},
        ("20 levels", "Within"),
    ),
    "functions without end": (
        lambda: render(UserMessage("<<f>>"), functions={"f": again}),
        ps.RecursionLimitError,
        {"section": "user_message"},
        ("20 levels", "'f'"),
    ),
    "history that is a text": (
        lambda: render(ConversationHistory(), memory={"history": "user: hi"}),
        ps.InvalidHistoryError,
        {"section": "conversation_history"},
        ("list of messages, oldest first", "not str"),
    ),
    "history that is spent": (
        lambda: render(ConversationHistory(), memory={"history": iter([])}),
        ps.InvalidHistoryError,
        {"section": "conversation_history"},
        ("list_iterator", "NewestFirst"),
    ),
    "history with no messages": (
        lambda: render(ConversationHistory(), memory={"history": [{"content": "x"}]}),
        ps.InvalidHistoryError,
        {"section": "conversation_history", "cause": ps.DefinitionError},
        ("message 0", "role"),
    ),
    "store that gives no messages": (
        lambda: render(ConversationHistory(), memory={"history": NewestFirst(lambda: 5)}),  # type: ignore[arg-type, return-value]
        ps.InvalidHistoryError,
        {"section": "conversation_history"},
        ("newest first", "not int"),
    ),
    "section that waits": (
        lambda: render(Later(required=False)),
        ps.NeedsEventLoopError,
        {"section": "later"},
        ("Later.resolve()", "arender"),
    ),
    "source that waits": (
        lambda: render(DataSourceSection(waits)),
        ps.NeedsEventLoopError,
        {"section": "data_source"},
        ("waits", "arender"),
    ),
    "function that waits": (
        lambda: render(UserMessage("<<f>>", required=False), functions={"f": waits}),
        ps.NeedsEventLoopError,
        {"section": "user_message"},
        ("'f'", "arender"),
    ),
    "context that is not there": (
        lambda: render(OfFramework(name="turn", required=False)),
        ps.DefinitionError,
        {},
        ("'turn'", "bytes", "none", "context="),
    ),
    "more than was read": (
        unread,
        ps.LayoutError,
        {"section": None},
        ("'conversation_history'", "20 tokens", "budget=200"),
    ),
    "call without a result": (
        lambda: render(FunctionCallMessage(CALL), TextSection("x")),
        ps.LayoutError,
        {"section": "function_call_message"},
        ("'c1'", "'text'", "FunctionResponseMessage"),
    ),
    "call at the end": (
        lambda: render(FunctionCallMessage(CALL)),
        ps.LayoutError,
        {"section": "function_call_message"},
        ("nothing follows",),
    ),
    "result without a call": (
        lambda: render(TextSection("x"), FunctionResponseMessage("c9", "y")),
        ps.LayoutError,
        {"section": "function_response_message"},
        ("'c9'",),
    ),
    "call and result in two groups": (
        lambda: render(
            GroupSection([FunctionCallMessage(CALL)], name="a", tokens=50),
            GroupSection([FunctionResponseMessage("c1", "y")], name="b"),
        ),
        ps.LayoutError,
        {"section": "a"},
        ("'a'", "same group"),
    ),
    "text of messages": (
        lambda: render(TextSection("x")).text,
        ps.LayoutError,
        {"section": None},
        ('output="text"',),
    ),
    "required does not fit": (
        lambda: render(
            TextSection("w " * 200, name="rules"),
            GroupSection([TextSection("w " * 5)], name="g"),
            TextSection("w", required=False),
        ),
        ps.BudgetExceededError,
        {"budget": 100, "needed": 205, "floors": {"rules": 200, "g/text": 5}, "section": None},
        ("100", "205", "'rules' 200", "'g/text' 5"),
    ),
    "section above its own limit": (
        lambda: render(TextSection("w " * 20, name="rules", tokens=Auto(at_most=5))),
        ps.BudgetExceededError,
        {"budget": 5, "needed": 20, "floors": {"rules": 20}, "section": "rules"},
        ("'rules'", "5", "20", "when_over"),
    ),
    "tools alone do not fit": (
        lambda: Renderer("gpt-4o").render(Prompt([], tools=[ps.Tool("t", "w " * 50)]), budget=5),
        ps.BudgetExceededError,
        {"budget": 5, "floors": {}},
        ("tools", "5"),
    ),
}  # fmt: skip


@attrs.frozen
class MakesTrouble(PromptSection):
    def resolve(self, scope: Scope, /) -> Any:
        raise KeyError("k")


@pytest.mark.parametrize("case", CASES)
def test_error_says_what_where_and_what_to_do(case: str) -> None:
    do, kind, carried, said = CASES[case]

    with pytest.raises(ps.PromptSectionsError) as caught:
        do()

    error = caught.value
    assert type(error) is kind
    for part in said:
        assert part in str(error)
    cause = carried.get("cause")
    assert cause is None or isinstance(error.__cause__, cause)
    for name, value in carried.items():
        if name != "cause":
            assert getattr(error, name) == value, name


@pytest.mark.parametrize("case", CASES)
def test_error_survives_pickling(case: str) -> None:
    with pytest.raises(ps.PromptSectionsError) as caught:
        CASES[case][0]()
    error = caught.value
    error.__dict__.pop("__notes__", None)

    again = pickle.loads(pickle.dumps(error))

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.args == error.args
    assert vars(again) == vars(error)


def test_every_error_of_the_engine_is_provoked() -> None:
    tree = set(_all(ps.PromptSectionsError))
    provoked = {kind for _, kind, _, _ in CASES.values()}
    elsewhere = {
        ps.PromptSectionsError,  # never raised itself, or by a tokenizer that fails
        ps.ConfigError,  # of prompt files
        ps.SourceTimeoutError,  # under arender(): tests/renderer
        ps.ProviderError,  # of providers
        ps.UnsupportedContentError,
        ps.SlotSourceError,  # of slots and gateway: tests/assembly
        ps.GatewayError,
        ps.EmptyContextError,
        ps.ModelCallError,
        ps.InvalidAnswerError,
    }

    public = {kind for kind in tree if not kind.__name__.startswith("_")}
    assert public - provoked == elsewhere


def _all(kind: type) -> list[type]:
    return [kind, *(inner for sub in kind.__subclasses__() for inner in _all(sub))]


def test_every_error_that_pickles_keeps_a_value_of_any_kind() -> None:
    error = ps.BudgetExceededError("m", budget=1, needed=2, floors={"a/b": 2}, section="a/b")

    again = pickle.loads(pickle.dumps(error))

    assert (again.budget, again.needed, again.floors, again.section) == (1, 2, {"a/b": 2}, "a/b")
    config = ps.ConfigError("m", path="p", kind="missing")
    assert pickle.loads(pickle.dumps(config)).path == "p"
    timeout = pickle.loads(pickle.dumps(ps.SourceTimeoutError("m", seconds=2.5, section="s")))
    assert (timeout.seconds, str(timeout)) == (2.5, "section 's': m")


# --- budgets --------------------------------------------------------------------------------------

BAD_BUDGETS: list[Any] = [
    0, 1, -2, -0.5, 0.0, 1.5, float("nan"), float("inf"), float("-inf"), True, False, None,
    "50%", "auto", b"1", [], object, 1j,
]  # fmt: skip


@pytest.mark.parametrize("value", BAD_BUDGETS, ids=repr)
@pytest.mark.parametrize("name", ["h", None])
def test_a_bad_budget_names_the_section_the_value_and_the_rule(value: Any, name: Any) -> None:
    with pytest.raises(ps.InvalidBudgetError) as caught:
        ConversationHistory(tokens=value, name=name)

    assert caught.value.value is value
    assert caught.value.section == (name or "conversation_history")
    assert repr(caught.value.section) in str(caught.value)
    assert f"tokens={value!r}" in str(caught.value)


@pytest.mark.parametrize("value", [*BAD_BUDGETS[:1], -1, 1.5, "9", True, float("nan"), []])
def test_a_bad_budget_of_a_render_is_refused_before_anything_runs(value: Any) -> None:
    calls: list[str] = []
    prompt = Prompt([DataSourceSection(lambda q, s: calls.append(q) or [])])

    for method in (by_words().render, by_words().resolve):
        with pytest.raises(ps.InvalidBudgetError, match="whole number of tokens"):
            method(prompt, budget=value)

    resolved = by_words().resolve(Prompt([]), budget=5)
    with pytest.raises(ps.InvalidBudgetError, match="whole number of tokens"):
        lay_out(resolved, value)
    assert calls == []


# --- what is wrong as written -------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "when_over": (lambda: TextSection("a", when_over="cut"), r"'text'.*when_over='cut'.*Truncate"),  # type: ignore[arg-type]
    "timeout 0": (lambda: TextSection("a", timeout=0), r"timeout=0 must be seconds above 0"),
    "timeout nan": (lambda: TextSection("a", timeout=float("nan")), r"timeout=nan"),
    "timeout true": (lambda: TextSection("a", timeout=True), r"timeout=True"),
    "timeout text": (lambda: TextSection("a", timeout="5"), r"timeout='5'"),  # type: ignore[arg-type]
    "priority": (lambda: TextSection("a", priority=1.5), r"priority=1.5 must be a whole number"),  # type: ignore[arg-type]
    "priority true": (lambda: TextSection("a", priority=True), r"priority=True"),
    "required": (lambda: TextSection("a", required=1), r"required=1 must be True or False"),  # type: ignore[arg-type]
    "stability": (lambda: TextSection("a", stability="x"), r"static, tenant, session, turn"),  # type: ignore[arg-type]
    "separator": (lambda: TextSection("a", separator=1), r"separator=1 must be a text"),  # type: ignore[arg-type]
    "text_prefix": (lambda: TextSection("a", text_prefix=None), r"text_prefix=None must be"),  # type: ignore[arg-type]
    "name with /": (lambda: TextSection("a", name="a/b"), r"name='a/b'.*'/'"),
    "name empty": (lambda: TextSection("a", name=""), r"name=''"),
    "name number": (lambda: TextSection("a", name=3), r"name=3"),  # type: ignore[arg-type]
    "role": (lambda: TextSection("a", role="boss"), r"'text'.*role='boss'.*assistant"),  # type: ignore[arg-type]
    "role of a group": (lambda: GroupSection([], role="boss"), r"'group'.*role='boss'"),  # type: ignore[arg-type]
    "text": (lambda: TextSection(5), r"text, not int"),  # type: ignore[arg-type]
    "template": (lambda: UserMessage(5), r"template is a text or a Template, not int"),  # type: ignore[arg-type]
    "variable": (lambda: MemorySection(5), r"'memory'.*variable=5 must be a text"),  # type: ignore[arg-type]
    "input": (lambda: UserInput(5), r"'user_input'.*variable=5"),  # type: ignore[arg-type]
    "files": (lambda: UserInput(files=5), r"files=5"),  # type: ignore[arg-type]
    "history": (lambda: ConversationHistory(5), r"variable=5"),  # type: ignore[arg-type]
    "start_on": (lambda: ConversationHistory(start_on="x"), r"start_on='x'"),  # type: ignore[arg-type]
    "max_messages": (lambda: ConversationHistory(max_messages=0), r"max_messages=0"),
    "max_messages text": (lambda: ConversationHistory(max_messages="9"), r"max_messages='9'"),  # type: ignore[arg-type]
    "format": (lambda: MemorySection("a", format="x"), r"format='x'.*json, yaml, bullets"),  # type: ignore[arg-type]
    "tag": (lambda: MemorySection("a", tag="a b"), r"'a b' is no name in XML"),
    "tag number": (lambda: MemorySection("a", tag=5), r"5 is no name in XML"),  # type: ignore[arg-type]
    "source": (lambda: DataSourceSection("docs"), r"'data_source'.*function of query.*not str"),  # type: ignore[arg-type]
    "query": (lambda: DataSourceSection(fails, query=5), r"query=5"),  # type: ignore[arg-type]
    "call": (lambda: FunctionCallMessage("f"), r"ToolCall"),  # type: ignore[arg-type]
    "call without id": (lambda: FunctionCallMessage({"name": "f"}), r"'f' needs an id"),
    "call_id": (lambda: FunctionResponseMessage(5, "x"), r"call_id=5 must be a text"),  # type: ignore[arg-type]
    "store": (lambda: NewestFirst([]), r"fresh iterable.*not list"),  # type: ignore[arg-type]
    "one section": (lambda: Prompt(TextSection("a")), r"put the section in brackets"),  # type: ignore[arg-type]
    "no sections": (lambda: Prompt(None), r"sections must be a list, not NoneType"),  # type: ignore[arg-type]
    "texts": (lambda: Prompt([TextSection("a"), "b"]), r"sections\[1\] is str.*TextSection"),  # type: ignore[list-item]
    "classes": (lambda: Prompt([TextSection]), r"sections\[0\] is type"),  # type: ignore[list-item]
    "dicts": (lambda: GroupSection([{"text": "a"}]), r"sections\[0\] is dict"),  # type: ignore[list-item]
    "tools": (lambda: Prompt([], tools=["t"]), r"Tool values, not str"),  # type: ignore[list-item]
    "no model": (lambda: Renderer(), r"needs a model or a tokenizer"),
    "model": (lambda: Renderer(5), r"model must be.*ModelProfile, not int"),  # type: ignore[arg-type]
    "tokenizer": (lambda: Renderer(tokenizer=5), r"5 is no tokenizer"),  # type: ignore[arg-type]
    "encoding": (lambda: Renderer(tokenizer="o200k"), r"Did you mean 'o200k_base'"),
    "undefined": (lambda: by_words(undefined="x"), r"undefined='x' must be one of 'error'"),
    "on_failure": (lambda: by_words(on_failure="x"), r"on_failure='x' must be one of"),
    "output": (lambda: by_words(output="x"), r"output='x' must be one of"),
    "functions": (lambda: by_words(functions={"f": 1}), r"'f' is int, not callable"),
    "functions list": (lambda: by_words(functions=[fails]), r"mapping by name, not list"),
    "render list": (lambda: by_words().render([], budget=9), r"Prompt, not list: write Prompt\("),  # type: ignore[arg-type]
    "render text": (lambda: by_words().render("x", budget=9), r"Prompt, not str"),  # type: ignore[arg-type]
    "render group": (lambda: by_words().render(GroupSection([]), budget=9), r"not GroupSection"),  # type: ignore[arg-type]
    "check": (lambda: by_words().check("x"), r"Prompt, not str"),  # type: ignore[arg-type]
    "render timeout": (lambda: by_words().render(Prompt([]), budget=9, timeout=0), r"timeout=0"),
    "render timeout text": (
        lambda: by_words().render(Prompt([]), budget=9, timeout="5"), r"timeout='5'"),  # type: ignore[arg-type]
    "memory": (lambda: render(UserInput(), memory=[1]), r"memory must be a mapping.*list has not"),
    "memory not read": (lambda: render(TextSection("a"), memory=5), r"memory must.*int has not"),
    "transform": (lambda: ConversationHistory(transform=5), r"transform=5 must be a function"),  # type: ignore[arg-type]
    "lay_out": (lambda: lay_out("x"), r"Renderer.resolve\(\) returns, not str"),  # type: ignore[arg-type]
    "deep": (lambda: nested(101), r"101 deep; at most 100"),
    "source of text": (lambda: render(DataSourceSection(lambda q, s: "x")), r"'data_source'.*list"),
    "source of numbers": (lambda: render(DataSourceSection(lambda q, s: [5])), r"int.*or str"),  # type: ignore
    "files text": (lambda: render(UserInput(files="f"), memory={"input": "", "f": ""}), r"list of"),
    "result int": (lambda: render(Says(5, name="mine")), r"'mine'.*resolve\(\) returned int"),
    "result bytes": (lambda: render(Says(b"5")), r"returned bytes: return None, a text"),
    "result texts": (lambda: render(Says(["a"])), r"'says'.*str is no message"),
    "result role": (lambda: render(Says([{"role": "x", "content": ""}])), r"'says'.*role='x'"),
    "result section": (lambda: render(Says(TextSection("a"))), r"returned TextSection"),
    "result iterator": (lambda: render(Says(iter([]))), r"returned list_iterator"),
    "tokenizer's answer": (
        lambda: Renderer(tokenizer=lambda text: [1]).render(Prompt([TextSection("a")]), budget=9),  # type: ignore[arg-type, return-value]
        r"whole number >= 0.*return their number",
    ),
}  # fmt: skip


def nested(depth: int) -> Prompt:
    section: PromptSection = TextSection("x")
    for _ in range(depth - 1):
        section = GroupSection([section])
    return Prompt([section])


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_as_written_is_a_definition_error(case: str) -> None:
    do, says = WRONG[case]

    with pytest.raises(ps.DefinitionError, match=f"(?s){says}") as caught:
        do()

    assert isinstance(caught.value, ValueError)
    assert "Attribute(name" not in str(caught.value)  # nothing of attrs shows through


def test_a_hundred_levels_are_allowed() -> None:
    assert render(*nested(99).sections).messages[0].text == "x"


def test_an_unknown_profile_is_not_a_silent_default() -> None:
    own = ModelProfile(name="mine", encoding="o200k_base", context_window=1_000)

    assert Renderer("mine", profiles={"mine": own}).profile == own
    with pytest.raises(ps.UnknownModelError, match="'mime'") as caught:
        Renderer("mime", profiles={"mine": own})
    assert "mine" in caught.value.suggestions


def test_config_errors_are_not_raised_by_the_engine() -> None:
    assert issubclass(ps.ConfigError, ps.DefinitionError)
    assert ps.ConfigError not in {kind for _, kind, _, _ in CASES.values()}
