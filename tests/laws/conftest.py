"""The laws share their oracles with the tests of the solver."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "solver"))
