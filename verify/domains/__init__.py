"""Number systems in which a transformer can be run, and their common forward pass."""

from verify.domains.ball import Ball
from verify.domains.base import Domain, NotPolynomial
from verify.domains.forward import objects, outputs, streams, through, unembedding, written
from verify.domains.modular import Modular, random_prime
from verify.domains.rational import Rational
from verify.domains.sizes import (
    Degrees,
    Denominators,
    Heights,
    error_probability,
    miss_probability,
)
from verify.domains.symbolic import Symbolic, SymbolicBySympy

__all__ = [
    "Ball",
    "Degrees",
    "Denominators",
    "Domain",
    "Heights",
    "Modular",
    "NotPolynomial",
    "Rational",
    "Symbolic",
    "SymbolicBySympy",
    "error_probability",
    "miss_probability",
    "objects",
    "outputs",
    "random_prime",
    "streams",
    "through",
    "unembedding",
    "written",
]
