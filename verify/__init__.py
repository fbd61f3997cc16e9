"""Claims: a claim is a statement with its source and its evidence.  `python -m verify list`.

`certify` compares a model with a function, without a claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.certified import Certified, certify

__all__ = ["Certified", "certify"]


def __getattr__(name: str) -> Any:
    """The names above, imported when they are used: `python -m verify list` does not need torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from verify import certified

    return getattr(certified, name)
