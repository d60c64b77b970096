"""Divide a budget: which sections are kept, and how many tokens each is given.

Integers in, integers out. It sees no text, no sections and no tokenizer, and imports nothing of
ours; sizes are asked for through `Sizes`, never further than what could be given.

The definition (laws 3 and 4 of `docs/explanation/design.md`), in five sentences:

1. *Floors.* Every required track is entered at its floor.
2. *Choose.* Optional units are walked in rank order; one is kept if and only if its floors, with
   the separators and wrappers they bring, fit beside all that is kept.
3. *Serve.* Content-sized tracks grow to their natural size, required ones first, then by rank.
4. *Share.* What they leave is `space`; each further token goes to the share with the smallest
   `(size + 1) / fraction` while that is at most `space`, up to its ceiling and natural size.
5. *Rest.* What the shares leave goes to the rests in the same way, by weight.
"""

from promptsections.solver.apportion import apportion
from promptsections.solver.plan import Join, Kind, Ledger, Plan, Track, Unit
from promptsections.solver.solve import Sizes, Solution, choose, serving_order, solve

__all__ = [
    "Join",
    "Kind",
    "Ledger",
    "Plan",
    "Sizes",
    "Solution",
    "Track",
    "Unit",
    "apportion",
    "choose",
    "serving_order",
    "solve",
]
