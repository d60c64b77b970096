"""Measures ours, the loops and the peers on one prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import process_time

from attrs import frozen

from benchmarks.measuring import cold, peak_bytes, warm
from benchmarks.peers.environment import Environments, Unavailable
from benchmarks.peers.roster import PEERS, Peer
from benchmarks.peers.running import Found, run_peer
from benchmarks.results import (
    FAST,
    LOOP,
    OURS,
    REMEMBERING,
    Absent,
    Case,
    Phase,
    Reading,
    paired_ratio,
)
from benchmarks.subjects import (
    MODEL,
    Meter,
    Run,
    fast_tokenizer,
    make_history,
    make_prompt,
    ours,
    plain_loop,
    read,
    remembering_loop,
)
from benchmarks.workload import Workload, fresh, make_workload
from promptsections import Message, Renderer, find_profile, lay_out
from promptsections.tokens import TiktokenTokenizer, Tokenizer

Prepare = Callable[[Workload, int, Tokenizer], Run]
"""Makes a run on a workload, with a budget and what counts."""


@frozen
class Subject:
    """Something that runs in this process."""

    name: str
    prepare: Prepare
    tokenizer: Tokenizer


def compare(
    history: int, budget: int, runs: int, environments: Environments | str, limit: float
) -> Case:
    """Measure everybody on one prompt.

    Args:
        history: Messages of the history.
        budget: In tokens.
        runs: Measurements of which the median is taken.
        environments: Of the peers, or why they are left out.
        limit: Seconds that a peer may take for all its runs.
    """
    workload = make_workload(history)
    slow = TiktokenTokenizer()
    subjects = [
        Subject(LOOP, plain_loop, slow),
        Subject(REMEMBERING, remembering_loop, slow),
        Subject(OURS, ours, slow),
    ]
    absent: list[Absent] = []
    match fast_tokenizer():
        case str(reason):
            absent.append(Absent(FAST, reason))
        case fast:
            subjects.append(Subject(FAST, ours, fast))
    readings = _in_this_process(subjects, workload, budget, runs)
    loop = readings[0]
    for peer in PEERS:
        if isinstance(environments, str):
            absent.append(Absent(peer.name, environments))
            continue
        found = run_peer(peer, environments, workload, budget, runs, limit)
        if isinstance(found, Unavailable):
            absent.append(Absent(peer.name, found.reason))
        else:
            readings.append(_of_peer(peer, found, budget, loop.cold))
    return Case(budget, history, readings, absent)


def _in_this_process(
    subjects: Sequence[Subject], workload: Workload, budget: int, runs: int
) -> list[Reading]:
    """Take turns, so that what else the machine does hits all alike; the first is the loop."""
    times: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    for subject in subjects:
        subject.prepare(fresh(workload), budget, subject.tokenizer)()
    for _ in range(runs):
        for subject in subjects:
            prepare = partial(_prepared, subject, workload, budget)
            times[subject.name].append(cold(prepare))
    loop = times[subjects[0].name]
    return [
        _reading(subject, workload, budget, runs, times[subject.name], loop) for subject in subjects
    ]


def _prepared(subject: Subject, workload: Workload, budget: int) -> Run:
    return subject.prepare(fresh(workload), budget, subject.tokenizer)


def _reading(
    subject: Subject,
    workload: Workload,
    budget: int,
    runs: int,
    times: Sequence[float],
    loop: Sequence[float],
) -> Reading:
    """Put the times of one subject together with what it read, sent and held."""
    meter = Meter(subject.tokenizer)
    metered = subject.prepare(fresh(workload), budget, meter)
    messages = read(metered())
    calls, characters = meter.calls, meter.characters
    metered()
    tokens = counted(messages)
    return Reading(
        subject=subject.name,
        framing=True,
        cold=1e3 * median(times),
        warm=1e3 * warm(subject.prepare(workload, budget, subject.tokenizer), runs),
        times_loop=paired_ratio(times, loop),
        calls=calls,
        characters=characters,
        messages=len(messages),
        characters_sent=sum(len(text) for _, text in messages),
        tokens=tokens,
        fits=tokens <= budget,
        peak_kilobytes=peak_bytes(_prepared(subject, workload, budget)) / 1024,
        calls_again=meter.calls - calls,
    )


def _of_peer(peer: Peer, found: Found, budget: int, loop: float) -> Reading:
    cold_time = 1e3 * median(found.cold)
    tokens = counted(found.messages)
    return Reading(
        subject=peer.name,
        framing=peer.framing,
        cold=cold_time,
        warm=1e3 * found.warm,
        times_loop=cold_time / loop,
        calls=found.calls,
        characters=found.characters,
        messages=len(found.messages),
        characters_sent=sum(len(text) for _, text in found.messages),
        tokens=tokens,
        fits=tokens <= budget,
        peak_kilobytes=None if found.peak_bytes is None else found.peak_bytes / 1024,
    )


def counted(messages: Sequence[tuple[str, str]]) -> int:
    """Count what is sent by the published formula, framing and reply priming included."""
    profile = find_profile(MODEL)
    values = [Message(role, text) for role, text in messages]  # type: ignore[arg-type]
    return profile.reply_priming + profile.messages_tokens(values, profile.tokenizer())


def phases(history: int, budget: int, runs: int, counting: float) -> Phase:
    """Measure resolve and layout apart, warm."""
    workload = make_workload(history)
    renderer, prompt = Renderer(MODEL), make_prompt(workload)
    memory = {"history": make_history(workload), "input": workload.question}
    render = partial(renderer.resolve, prompt, memory, budget=budget)
    lay_out(render())
    resolves: list[float] = []
    layouts: list[float] = []
    for _ in range(5 * runs):
        started = process_time()
        resolved = render()
        between = process_time()
        lay_out(resolved)
        layouts.append(process_time() - between)
        resolves.append(between - started)
    return Phase(budget, history, 1e3 * median(resolves), 1e3 * median(layouts), counting)
