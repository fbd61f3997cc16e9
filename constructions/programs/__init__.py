"""Programs in RASP as transformers."""

from constructions.programs.chomsky import chomsky_task
from constructions.programs.compiler import compiled
from constructions.programs.scratchpads import chomsky_scratchpad, decoded_answers

__all__ = ["chomsky_scratchpad", "chomsky_task", "compiled", "decoded_answers"]
