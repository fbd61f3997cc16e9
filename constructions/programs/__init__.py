"""Programs in RASP as transformers."""

from constructions.programs.compiler import compiled
from constructions.programs.scratchpads import chomsky_scratchpad

__all__ = ["chomsky_scratchpad", "compiled"]
