"""The circuit of a model: which component reads what of which other, derived from the tensors.

    from constructions import circuit, induction_heads

    found = circuit(induction_heads(4, 6))
    print(found)                            # L1.H0 → L2.H0.K [previous], …
    print(found.edges_that_matter(4))       # by exhaustive patching, with a witness for each edge
    found.draw("circuit.png")

Another object of the name `Circuit` is the Boolean circuit of `theory.computation`.
"""

from constructions.circuits.circuit import Circuit, circuit
from constructions.circuits.edges import Edge, Node
from constructions.circuits.effects import Effects, Witness

__all__ = ["Circuit", "Edge", "Effects", "Node", "Witness", "circuit"]
