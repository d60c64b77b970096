"""Writes what a run found into the page "How fast" and the README; the words around it are ours.

Tables stand between marks, `<!-- name -->` and `<!-- end -->`; `python -m benchmarks.page FILE`
does it again with the JSON of a run.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.picture import draw
from benchmarks.results import Results, from_dict
from benchmarks.tables import in_short, tables
from benchmarks.workload import BUDGETS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "how-fast.md"
README = ROOT / "README.md"
_MARK = re.compile(r"<!-- ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def update(results: Results, page: Path = PAGE, readme: Path = README) -> list[Path]:
    """Fill all marked places and draw the pictures of the page; return what was written.

    Raises:
        ValueError: There is no place for a table, or a place for one that was not made.
    """
    regions = {table.name: table.markdown(without="on the page") for table in tables(results)}
    about = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    regions["machine"] = f"{about}; medians of {results.runs} measurements."
    regions.setdefault("missing", "Nobody is missing.")
    texts = {page: _filled(page, regions), readme: _filled(readme, {"speed": in_short(results)})}
    for budget in BUDGETS:
        texts[page.with_name(f"{page.stem}-{budget}.svg")] = draw(results, budget)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


def _filled(page: Path, regions: Mapping[str, str]) -> str:
    """Return the text of a page with every marked place filled anew."""
    text = page.read_text(encoding="utf-8")
    places = set(_MARK.findall(text))
    if places != set(regions):
        odd = ", ".join(sorted(places ^ set(regions)))
        raise ValueError(f"{page.name} and the tables of this run do not agree about: {odd}")
    return _MARK.sub(lambda found: f"<!-- {found[1]} -->\n{regions[found[1]]}\n<!-- end -->", text)


def main() -> None:
    """Write the page from the JSON of a run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("results", type=Path, help="results.json of a run")
    data = json.loads(parser.parse_args().results.read_text(encoding="utf-8"))
    for written in update(from_dict(data)):
        print(f"Written: {written}")


if __name__ == "__main__":
    main()
