"""Writes sections as the messages of a `.prompty` body, in Jinja2.

It knows sections; it knows nothing of the front matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import assert_never

from attrs import field, fields, frozen

from promptsections.budgets import to_budget
from promptsections.config.keys import invalid
from promptsections.config.prompty.roles import MARKER
from promptsections.config.remarks import Remarks
from promptsections.sections import (
    ConversationHistory,
    GroupSection,
    MemorySection,
    PromptSection,
    TemplateSection,
    TextSection,
    UserInput,
)
from promptsections.templates.nodes import Argument, Breakpoint, Call, Node, Text, Variable

_OPENING = re.compile(r"\{(?:[{%#]|\Z)")
_OTHER_LINE_ENDS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_RESERVED = frozenset(
    ("and", "else", "false", "False", "if", "in", "is", "none", "None", "not", "or", "true", "True")
)
_SAID = frozenset(
    ("name", "text", "template", "role", "variable", "sections", "tools", "names", "depth")
)
"""Fields whose meaning is written, or which are nothing but names."""
_WRITTEN = (
    TextSection,
    TemplateSection,
    UserInput,
    MemorySection,
    ConversationHistory,
    GroupSection,
)
_TEXT_FORM = frozenset(("separator", "text_prefix", "user_prefix", "assistant_prefix"))
"""Fields that mean nothing in messages."""


@frozen
class MessageWriter:
    """Writes messages, and remembers which variables they use."""

    file: Path
    remarks: Remarks
    used: dict[str, None] = field(factory=dict[str, None])
    """Paths of variables, in the order in which they appear."""
    threads: set[str] = field(factory=set[str])
    """Those that are conversations."""

    def messages(self, group: GroupSection, path: str = "") -> Iterator[str]:
        """Yield the messages of a group, each below its role.

        Raises:
            ConfigError: if a line of a text would be read as a role.
        """
        for place, section in _named(group, path):
            self._remark_fields(place, section)
            if isinstance(section, GroupSection):
                if section.role is None:
                    yield from self.messages(section, place)
                    continue
                role, text = str(section.role), self._joined(section, place)
            else:
                role, text = self._said(section, place)
            if text.strip("\n"):
                yield f"{role}:\n{self._checked(text, place)}"

    def _joined(self, group: GroupSection, path: str) -> str:
        """Return the text of a group that is one message."""
        texts: list[str] = []
        for place, section in _named(group, path):
            self._remark_fields(place, section)
            if isinstance(section, GroupSection):
                texts.append(self._joined(section, place))
            else:
                texts.append(self._said(section, place)[1])
        return _literal(group.separator).join(text for text in texts if text)

    def _said(self, section: PromptSection, path: str) -> tuple[str, str]:
        """Return the role and the text of a section; the text is empty if it cannot be said."""
        match section:
            case TextSection():
                return section.role, _literal(section.text)
            case TemplateSection():
                return section.role, "".join(self._node(n, path) for n in section.template.nodes)
            case UserInput():
                return "user", self._variable(section.variable, path)
            case ConversationHistory():
                self.threads.add(section.variable)
                return "system", self._variable(section.variable, path)
            case MemorySection():
                text = self._variable(section.variable, path)
                return (
                    section.role,
                    f"<{section.tag}>\n{text}\n</{section.tag}>" if section.tag else text,
                )
            case _:
                self.remarks.say(
                    "section_left_out",
                    path,
                    f"the format has nothing like {type(section).__name__}",
                )
                return "system", ""

    def _node(self, node: Node, path: str) -> str:
        match node:
            case Text():
                return _literal(node.text)
            case Variable():
                return self._variable(node.path, path)
            case Breakpoint():
                return ""
            case Call():
                self.remarks.say(
                    "call_as_input",
                    path,
                    f"the format has no functions: pass {node.name!r} as an input to be called",
                )
                given = [self._argument(value, path) for value in node.arguments]
                given += [f"{key}={self._argument(value, path)}" for key, value in node.keywords]
                name = self._path(node.name, path)
                return f"{{{{ {name}({', '.join(given)}) }}}}"
            case _:
                assert_never(node)

    def _argument(self, value: Argument, path: str) -> str:
        return self._path(value.path, path) if isinstance(value, Variable) else repr(value)

    def _variable(self, variable: str, path: str) -> str:
        return f"{{{{ {self._path(variable, path)} }}}}"

    def _path(self, variable: str, path: str) -> str:
        """Write a path as Jinja2 does: `user.name`, `items[0]`, `user["first-name"]`."""
        self.used[variable] = None
        first, *parts = variable.split(".")
        if not first.isidentifier() or first in _RESERVED:
            raise invalid(
                self.file,
                f"section {path!r}: a Jinja2 template cannot name {variable!r}: rename it",
            )
        return first + "".join(map(_step, parts))

    def _checked(self, text: str, path: str) -> str:
        """Return a text as it will be read again, or refuse it."""
        for line in text.split("\n"):
            if MARKER.fullmatch(line):
                raise invalid(
                    self.file,
                    f"section {path!r}: the line {line.strip()!r} of its text would begin another "
                    "message",
                )
        kept = text.strip("\n")
        if kept != text or _OTHER_LINE_ENDS.search(text):
            self.remarks.say(
                "white_space_left_out", path, "empty lines around a message and other line ends"
            )
        return kept

    def _remark_fields(self, path: str, section: PromptSection) -> None:
        lost = sorted(_lost_fields(section))
        if lost and isinstance(section, _WRITTEN):
            self.remarks.say(
                "budget_left_out", path, f"the format has no place for {', '.join(lost)}"
            )


def _named(group: GroupSection, path: str) -> Iterator[tuple[str, PromptSection]]:
    for name, section in zip(group.names, group.sections, strict=True):
        yield (f"{path}/{name}" if path else name), section


def _lost_fields(section: PromptSection) -> Iterable[str]:
    """Yield the fields that are not as they are by default and are not written."""
    for each in fields(type(section)):
        if each.init and each.name not in _SAID | _TEXT_FORM and each.name != "tag":
            value, default = getattr(section, each.name), each.default
            if each.name == "tokens":
                value, default = section.budget, to_budget(default)
            if value != default:
                yield each.name


def _literal(text: str) -> str:
    """Write a text so that Jinja2 leaves it as it is."""
    return _OPENING.sub(lambda found: f"{{{{ '{found[0]}' }}}}", text)


def _step(part: str) -> str:
    if part.isascii() and part.isdigit():
        return f"[{int(part)}]"
    if not part.isidentifier() or hasattr(dict, part) or hasattr(list, part):
        return f"[{part!r}]"
    return f".{part}"
