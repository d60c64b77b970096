"""The benchmarks themselves: tables, picture, page, goals, and peers that are not to be had."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from attrs import asdict, evolve
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from benchmarks import page
from benchmarks.__main__ import main
from benchmarks.comparing import counted
from benchmarks.goals import with_goals
from benchmarks.peers import environment
from benchmarks.peers.environment import Environment, Environments, Unavailable
from benchmarks.peers.roster import PEERS, Peer
from benchmarks.peers.running import run_peer
from benchmarks.picture import draw
from benchmarks.results import (
    LOOP,
    OURS,
    Absent,
    Case,
    Goal,
    Measure,
    Phase,
    Reading,
    Results,
    from_dict,
)
from benchmarks.scenarios import measure_all
from benchmarks.tables import tables
from benchmarks.workload import BUDGETS, HISTORY_SIZES, make_workload

SVG = "{http://www.w3.org/2000/svg}"
READING = Reading(
    subject=OURS,
    framing=True,
    cold=1.5,
    warm=0.25,
    times_loop=1.25,
    calls=30,
    characters=20_000,
    messages=19,
    characters_sent=19_900,
    tokens=4_070,
    fits=True,
    peak_kilobytes=100.0,
    calls_again=0,
)
SLOW = evolve(READING, subject="a peer", cold=150.0, warm=75.0, peak_kilobytes=None, fits=False)


def results() -> Results:
    readings = [evolve(READING, subject=LOOP, cold=1.2), READING, SLOW]
    gone = [Absent("another peer", "cannot be installed: no such version")]
    cases = [Case(budget, size, readings, gone) for budget in BUDGETS for size in HISTORY_SIZES]
    phases = [Phase(BUDGETS[0], 10, 0.1, 0.2, 1.0)]
    measures = [Measure("new_turn", "one new turn", 3.0, "ms")]
    return with_goals(Results({"cores": "2"}, 5, cases, phases, measures), before={"new_turn": 1.5})


# --- goals --------------------------------------------------------------------------------------


def goal(key: str) -> Goal:
    return next(found for found in results().goals if found.key == key)


def test_goals_are_taken_from_what_was_measured() -> None:
    assert (goal("cold_4096").value, goal("cold_4096").met) == (1.25, True)
    assert (goal("warm_4096").value, goal("warm_4096").met) == (0.25, True)
    assert (goal("peers_cold").value, goal("peers_cold").met) == (100, True)
    assert (goal("new_turn").value, goal("new_turn").met) == (3.0, False)
    assert goal("new_turn").before == 1.5


def test_goal_that_nobody_measured_is_neither_met_nor_missed() -> None:
    assert (goal("fast_4096").value, goal("fast_4096").met) == (None, None)


def test_peer_that_counts_no_framing_is_no_measure_of_those_that_do() -> None:
    quick = evolve(SLOW, subject="a careless one", cold=2.0, framing=False)
    found = with_goals(
        evolve(
            results(),
            cases=[evolve(case, readings=[*case.readings, quick]) for case in results().cases],
        ),
        before={},
    )

    assert next(g.value for g in found.goals if g.key == "peers_cold") == 100


# --- tables, picture, page ----------------------------------------------------------------------


def test_who_is_missing_is_said_with_the_reason() -> None:
    made = {table.name: table for table in tables(results())}

    assert made["missing"].lines == [["another peer", "cannot be installed: no such version"]]
    assert [line[0] for line in made["times-4096"].lines] == [LOOP, OURS, "a peer"]


def test_tables_show_ratios_to_ours_at_the_longest_history() -> None:
    made = {table.name: table for table in tables(results())}

    assert made["times-4096"].head[-3:] == ("× ours", "warm", "× ours, warm")
    assert made["times-4096"].lines[2][-3:] == ["100×", "75.0", "300×"]
    assert made["work-4096"].lines[2][-2:] == ["no", "–"]


def test_picture_has_a_line_and_a_label_for_each_subject() -> None:
    drawn = ET.fromstring(draw(results(), BUDGETS[0]))

    lines = drawn.findall(f"{SVG}polyline")
    assert len(lines) == 3
    assert all(len(str(line.get("points")).split()) == len(HISTORY_SIZES) for line in lines)
    labels = [label for label in drawn.findall(f"{SVG}text") if "ms" in str(label.text)]
    heights = sorted(float(str(label.get("y"))) for label in labels if label.get("fill"))
    assert len(heights) == 3
    assert all(b - a >= 14 for a, b in pairwise(heights))


def pages(folder: Path) -> tuple[Path, Path]:
    copies = folder / page.PAGE.name, folder / page.README.name
    for original, copy in zip((page.PAGE, page.README), copies, strict=True):
        shutil.copy(original, copy)
    return copies


def test_page_holds_each_table_in_its_place(tmp_path: Path) -> None:
    copy, readme = pages(tmp_path)

    written = page.update(results(), copy, readme)

    text = copy.read_text(encoding="utf-8")
    assert [path.name for path in written] == [
        "how-fast.md",
        "README.md",
        "how-fast-4096.svg",
        "how-fast-100000.svg",
    ]
    assert "cores 2; medians of 5 measurements." in text
    assert "| promptsections | 1.50 | 0.25 | 1.50 | 0.25 |" in readme.read_text(encoding="utf-8")
    assert "| another peer | cannot be installed: no such version |" in text
    assert "on the page" not in text.partition("## What we promise")[2].splitlines()[3]
    words = re.compile(r"(<!-- [\w-]+ -->\n).*?(<!-- end -->)", re.DOTALL)
    assert words.sub(r"\1\2", text) == words.sub(r"\1\2", page.PAGE.read_text(encoding="utf-8"))


def test_run_that_did_not_measure_everything_is_not_written_into_the_page(tmp_path: Path) -> None:
    copy, readme = pages(tmp_path)
    before = copy.read_text(encoding="utf-8")

    with pytest.raises(ValueError, match="do not agree about: measures"):
        page.update(evolve(results(), measures=[]), copy, readme)

    assert copy.read_text(encoding="utf-8") == before


def test_pictures_of_the_page_are_those_that_a_run_writes() -> None:
    shown = re.findall(r"\]\((how-fast-\d+\.svg)\)", page.PAGE.read_text(encoding="utf-8"))

    assert shown == [f"how-fast-{budget}.svg" for budget in BUDGETS]
    assert all(page.PAGE.with_name(name).exists() for name in shown)


def test_results_come_back_from_json() -> None:
    found = results()

    assert asdict(from_dict(json.loads(json.dumps(asdict(found))))) == asdict(found)


# --- peers --------------------------------------------------------------------------------------


def peer(home: str) -> Peer:
    return next(found for found in PEERS if found.home == home)


def environments(root: Path) -> Environments:
    return Environments(root, lambda _: None)


def run(root: Path, which: Peer) -> object:
    return run_peer(which, environments(root), make_workload(10), 4_096, 1, 60)


def test_every_peer_is_pinned_and_has_an_adapter() -> None:
    pins = "".join(
        path.read_text(encoding="utf-8")
        for path in environment.HERE.iterdir()
        if path.suffix in (".txt", ".json")
    )

    for found in PEERS:
        version = re.search(rf'{re.escape(found.distribution)}(?:==|": ")([\d.]+\S*)', pins)
        assert version, found.name
        adapter = found.module if found.home == "node" else f"{found.module}.py"
        assert (environment.HERE / "adapters" / adapter).is_file()


def test_peer_without_its_python_or_node_is_missing_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "version_info", (3, 12, 0))

    node, teams = run(tmp_path, peer("node")), run(tmp_path, peer("teams-ai"))

    assert node == Unavailable("needs Node, and there is no node or no npm")
    assert teams == Unavailable("needs Python 3.11, and there is no python3.11")


def test_peer_that_cannot_be_installed_is_missing_and_the_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = peer("common")

    def pretend(command: list[str]) -> str:
        if "-r" in command:
            return "ERROR: No matching distribution"
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)
        return "ERROR: 404" if command[-1].startswith(gone.distribution) else ""

    monkeypatch.setattr(environment, "_failure_of", pretend)
    made = environments(tmp_path)

    assert made.of(gone) == Unavailable("cannot be installed: ERROR: 404")
    others = [found for found in PEERS if found.home == "common" and found != gone]
    assert all(isinstance(made.of(found), Environment) for found in others)
    again = environments(tmp_path)
    assert again.of(gone) == Unavailable("cannot be installed: ERROR: 404")


class Bare(Environments):
    """The interpreter of the tests, in which nothing was installed for peers."""

    def of(self, peer: Peer) -> Environment | Unavailable:
        return Environment(self.root, sys.executable, {})


def test_peer_that_fails_is_missing_with_its_error(tmp_path: Path) -> None:
    strange = Peer("a peer", "a-peer", "no_such_adapter", "common", framing=True, how="not at all")

    found = run_peer(strange, Bare(tmp_path, print), make_workload(10), 4_096, 1, 60)

    assert isinstance(found, Unavailable)
    assert found.reason.startswith("failed: ModuleNotFoundError")


def test_peer_that_does_not_end_is_missing(tmp_path: Path) -> None:
    found = run_peer(peer("common"), Bare(tmp_path, print), make_workload(10), 4_096, 1, limit=0.01)

    assert found == Unavailable("not done in 0 s")


def test_vocabularies_of_peers_are_those_that_tiktoken_would_fetch(tmp_path: Path) -> None:
    """tiktoken compares the file with the hash that it knows before it takes it."""
    folder = Path(environments(tmp_path).variables()["TIKTOKEN_CACHE_DIR"])

    known = {
        constant
        for function in (openai_public.o200k_base, openai_public.cl100k_base)
        for constant in function.__code__.co_consts
    }
    hashes = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert len(hashes) == 2
    assert hashes <= known


def test_what_a_peer_sends_is_counted_with_framing() -> None:
    assert counted([("system", "Hello"), ("user", "Hello")]) == 3 + 2 * (3 + 1 + 1)


# --- a run --------------------------------------------------------------------------------------


def test_a_run_writes_its_results_and_says_that_peers_were_not_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(
        ["--history", "10", "--budget", "4096", "--no-scenarios", "--output", str(tmp_path)]
    )  # fmt: skip

    read = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    (case,) = read["cases"]
    subjects = {found["subject"]: found for found in case["readings"]}
    assert subjects[OURS]["messages"] == subjects[LOOP]["messages"] == 13
    assert subjects[OURS]["tokens"] == subjects[LOOP]["tokens"]
    assert {found["subject"] for found in case["absent"]} >= {found.name for found in PEERS}
    assert (tmp_path / "cold-4096.svg").exists()
    assert "not asked for; --peers measures it" in capsys.readouterr().out


def test_a_median_of_few_runs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--runs", "4"])

    assert "--runs must be 5 or more" in capsys.readouterr().err


def test_every_goal_beside_the_workload_is_measured() -> None:
    measured = {found.key: found.value for found in measure_all(1, (2, 2))}

    beside = {found.key for found in results().goals} - {
        f"{name}_{budget}"
        for name in ("cold", "warm", "fast", "characters", "calls")
        for budget in BUDGETS
    }
    assert beside - {"peers_cold", "peers_warm"} <= set(measured)
    assert measured["remembered"] > 0
