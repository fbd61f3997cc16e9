"""Programs in RASP as transformers."""

from constructions.programs.compiler import compiled

__all__ = ["compiled"]
