"""Writes what a run found into the page "How fast", between marks; the words around it are ours."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.picture import draw
from benchmarks.results import Results
from benchmarks.tables import tables
from benchmarks.workload import BUDGETS

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "how-fast.md"
_REGION = "<!-- {name} -->\n{text}\n<!-- end -->"


def update(results: Results, page: Path = PAGE) -> list[Path]:
    """Replace each marked region of the page and its pictures; return what was written.

    Raises:
        ValueError: The page has no place for a table, or a place for one that was not made.
    """
    regions = {table.name: table.markdown(without="on the page") for table in tables(results)}
    about = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    regions["machine"] = f"{about}; medians of {results.runs} measurements."
    regions.setdefault("missing", "Nobody is missing.")
    text = page.read_text(encoding="utf-8")
    places = set(re.findall(r"<!-- ([\w-]+) -->", text)) - {"end"}
    if places != set(regions):
        odd = ", ".join(sorted(places ^ set(regions)))
        raise ValueError(f"{page.name} and the tables of this run do not agree about: {odd}")
    for name, content in regions.items():
        pattern = re.compile(rf"<!-- {name} -->\n.*?<!-- end -->", re.DOTALL)
        new = _REGION.format(name=name, text=content)
        text = pattern.sub(lambda _, new=new: new, text)
    page.write_text(text, encoding="utf-8")
    written = [page]
    for budget in BUDGETS:
        picture = page.with_name(f"{page.stem}-{budget}.svg")
        picture.write_text(draw(results, budget), encoding="utf-8")
        written.append(picture)
    return written
