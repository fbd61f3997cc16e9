"""Our models inside classes of others: TransformerLens."""

from constructions.stock.lens import labels, to_lens

__all__ = ["labels", "to_lens"]
