"""Let these tests ask the judges of payloads, which stand with the tests of providers."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "providers"))
