"""The circuit of a model as a table of HTML, which a page shows without a picture.

Columns are components and rows are registers, as in `Circuit.draw`.
"""

from __future__ import annotations

from html import escape

from constructions.circuits import Circuit, Edge, circuit
from constructions.circuits.edges import PORTS, wires
from constructions.transformer import Transformer

MOST = 1500  # the largest number of cells of a table
NAMES = {"MLP": "in", "logits": "out"}
TEXT = (
    "Columns are components in the order of computation (layer 1, head 0 is L1.H0), and rows are "
    "registers. ▸ is a component that writes to the register; Q, K and V are heads that read it as "
    "query, key or value, *in* is an MLP, and *out* the unembedding. This follows from the "
    "weights: what is not shown has no direct effect (`circuit(model)` in Python)."
)


def shown_circuit(model: Transformer) -> str:
    """Returns the section of a page with the circuit of a model; empty if there is none to show.

    There is none for a model that normalises its stream, and for a table that is too large.
    """
    if any(block.norm is not None for block in model.blocks):
        return ""
    found = circuit(model)
    if len(found.nodes) * len(wires(found.nodes, found.edges)) > MOST:
        return ""
    return f"### Its circuit\n\n{TEXT}\n\n{table(found)}"


def table(found: Circuit) -> str:
    """Returns the table of a circuit, in one line of HTML."""
    columns = "".join(f"<th>{escape(str(node))}</th>" for node in found.nodes)
    rows = []
    for register, (first, last) in wires(found.nodes, found.edges).items():
        own = [edge for edge in found.edges if edge.register == register]
        cells = []
        for i, node in enumerate(found.nodes):
            wire = " class=ww-wire" if first <= i <= last else ""
            marks = _read([edge for edge in own if edge.target == node])
            if any(edge.source == node for edge in own):
                marks += '<span class="ww-written">▸</span>'
            cells.append(f"<td{wire}>{marks}</td>")
        rows.append(f"<tr><th>{escape(register)}</th>{''.join(cells)}</tr>")
    head = f"<thead><tr><th></th>{columns}</tr></thead>"
    body = f"<tbody>{''.join(rows)}</tbody>"
    return f'<div class="ww-wide"><table class="ww-circuit">{head}{body}</table></div>'


def _read(into: list[Edge]) -> str:
    ports = sorted({edge.port for edge in into}, key=PORTS.index)
    return "".join(f'<span class="ww-port-{port}">{NAMES.get(port, port)}</span>' for port in ports)
