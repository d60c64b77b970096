"""What the project promises about speed, and whether a run kept it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from attrs import evolve

from benchmarks.results import FAST, LOOP, OURS, REMEMBERING, Goal, Reading, Results
from benchmarks.workload import BUDGETS, HISTORY_SIZES, make_workload

SMALL, LARGE = BUDGETS
FEW, MANY = HISTORY_SIZES[1], HISTORY_SIZES[-1]
_BY_HAND = (LOOP, REMEMBERING, OURS, FAST)


def with_goals(results: Results, before: Mapping[str, float]) -> Results:
    """Add the goals, with what was measured of them now and before."""
    goals = [
        *_against_the_loop(results),
        *_against_peers(results),
        *_work(results),
        *_beside(results),
    ]
    goals = [evolve(goal, before=before.get(goal.key)) for goal in goals]
    return evolve(results, goals=goals)


def _reading(results: Results, budget: int, history: int, subject: str) -> Reading | None:
    case = results.case(budget, history)
    return case.of(subject) if case else None


def _against_the_loop(results: Results) -> list[Goal]:
    goals: list[Goal] = []
    warm_bounds = {SMALL: 0.3, LARGE: 2.0}
    for budget in BUDGETS:
        ours = _reading(results, budget, MANY, OURS)
        fast = _reading(results, budget, MANY, FAST)
        where = f"history {MANY:,}, budget {budget:,}"
        goals += [
            Goal(
                f"cold_{budget}",
                f"cold, against the loop by hand; {where}",
                ours and ours.times_loop,
                1.3,
                "×",
            ),
            Goal(f"warm_{budget}", f"warm; {where}", ours and ours.warm, warm_bounds[budget], "ms"),
            Goal(
                f"fast_{budget}",
                f"cold with [fast], against the loop with tiktoken; {where}",
                fast and fast.times_loop,
                0.35,
                "×",
            ),
        ]
    return goals


def _against_peers(results: Results) -> list[Goal]:
    case = results.case(SMALL, MANY)
    ours = case and case.of(OURS)
    peers = [
        found
        for found in (case.readings if case else ())
        if found.framing and found.subject not in _BY_HAND
    ]
    text = f"the quickest library that counts framing, against ours; history {MANY:,}"

    def ratio(time: Callable[[Reading], float]) -> float | None:
        return min(map(time, peers)) / time(ours) if ours and peers else None

    return [
        Goal("peers_cold", f"{text}, cold", ratio(lambda r: r.cold), 50, "×", at_least=True),
        Goal("peers_warm", f"{text}, warm", ratio(lambda r: r.warm), 50, "×", at_least=True),
    ]


def longest_exchange() -> int:
    """Return the characters of the longest user's turn with its answer."""
    history = make_workload(MANY).history
    return max(len(one.text) + len(other.text) for one, other in pairwise(history))


def _work(results: Results) -> list[Goal]:
    goals: list[Goal] = []
    for budget in BUDGETS:
        ours = _reading(results, budget, MANY, OURS)
        read = ours and (ours.characters - longest_exchange()) / ours.characters_sent
        where = f"history {MANY:,}, budget {budget:,}"
        text = f"characters read less one exchange, against those sent; {where}"
        goals += [
            Goal(f"characters_{budget}", text, read, 1.05, "×"),
            Goal(
                f"calls_{budget}",
                f"tokenizer calls, warm; {where}",
                ours and ours.calls_again,
                0,
                "",
            ),
        ]
    return goals


def _beside(results: Results) -> list[Goal]:
    growth = f"history {MANY:,} against {FEW}, budget {SMALL:,}"
    bounds = {
        "growth_cold": (f"{growth}, cold", 1.1, "×"),
        "growth_warm": (f"{growth}, warm", 1.1, "×"),
        "new_turn": (f"one new turn on {LARGE:,} tokens, above counting it", 2, "ms"),
        "import": ("import promptsections, above a bare interpreter", 60, "ms"),
        "first_render_over_load": ("the first render, above loading the vocabulary", 20, "ms"),
        "cut_start": ("10 MB cut to 1,000 tokens, start kept", 10, "ms"),
        "cut_end": ("10 MB cut to 1,000 tokens, end kept", 10, "ms"),
        "silence": (f"longest silence of the event loop, {LARGE:,} tokens, cold", 100, "ms"),
        "soak_growth": ("blocks of memory left by each render", 0.1, ""),
    }
    return [
        Goal(key, text, results.measured(key), bound, unit)
        for key, (text, bound, unit) in bounds.items()
    ]
