"""The fifteen tasks of the Chomsky hierarchy, as functions and distributions [Deletang2023].

Conventions at lengths 1 and 2, lengths of outputs, padding and end marks are those of the published
generators.
"""

from theory.programs.chomsky.context_free import CONTEXT_FREE
from theory.programs.chomsky.context_sensitive import CONTEXT_SENSITIVE
from theory.programs.chomsky.regular import REGULAR
from theory.programs.chomsky.task import Task

TASKS = {task.name: task for task in (*REGULAR, *CONTEXT_FREE, *CONTEXT_SENSITIVE)}
"""The tasks by name; arithmetic with brackets is listed without and with products."""

__all__ = ["TASKS", "Task"]
