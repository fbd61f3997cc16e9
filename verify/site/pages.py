"""The pages of statements, in Markdown: all that they say comes from ledger, code and runs.

A page says what is stated and by whom, shows the model that is built with its weights by register,
lets it run where it is over tokens, and has the proof, the definition and the evidence.
"""

from __future__ import annotations

import ast
import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theory.checks import InputError
from verify.finding import shown
from verify.site.exported import exported, runs
from verify.site.prose import documented, escaped, mathematics, references
from verify.site.shown import code, model_of, weights
from verify.theorems import Theorem, ledger

Runs = Sequence[Mapping[str, Any]]  # of claims, as `verify NAME --json` writes them

UP = "../"  # from a page of a statement to the pages beside their folder
Defined = ast.FunctionDef | ast.ClassDef
DRAWN = 20_000  # weights that are not 0, at most, of a model that is drawn
FOLDED = 25  # so many findings are shown at once


def page(entry: Theorem, run: Mapping[str, Any] | None, at: Mapping[str, int]) -> str:
    """The page of a statement, with its model at these parameters and a run of its claim."""
    return "\n\n".join(filter(None, _parts(entry, run, at))) + "\n"


def _parts(entry: Theorem, run: Mapping[str, Any] | None, at: Mapping[str, int]) -> Iterator[str]:
    yield f"# {entry.name}"
    yield f"*{entry.kind}* · [{entry.topic}](topic-{entry.topic}.md)"
    yield "\n".join(f"> {line}" for line in escaped(entry.statement, UP).splitlines())
    yield f"Source: {escaped(entry.source, UP)}"
    yield _sizes(entry)
    if entry.open:
        yield f"Open: {escaped(entry.open, UP)}"
    found = model_of(entry, at)
    if found is not None:
        yield from _model(entry, *found)
    if entry.weights:
        yield from _weights(entry)
    if entry.theory:
        yield from _definition(entry.theory)
    yield from _evidence(entry, run)
    files = {"theory": entry.theory, "weights": entry.weights, "test": entry.test}
    told = [f"{what} `{file}`" for what, file in files.items() if file]
    yield f"## In the source\n\n{', '.join(told)}."


def _sizes(entry: Theorem) -> str:
    if not entry.sizes:
        return ""
    names = " | ".join(entry.sizes)
    formulas = " | ".join(mathematics(formula.latex()) for formula in entry.sizes.values())
    return f"| {names} |\n|{'---|' * len(entry.sizes)}\n| {formulas} |"


def _model(entry: Theorem, model: Any, values: Mapping[str, int]) -> Iterator[str]:
    yield f"## The model\n\n```python\n{code(entry, values)}\n```\n\n```text\n{model}\n```"
    if weights(model) > DRAWN:
        yield f"Its {weights(model)} weights that are not 0 are too many for a page."
        return
    data = exported(model)
    text = json.dumps(data).replace("<", "\\u003c")
    id = f"model-{entry.name}"
    yield "### Run it" if runs(model) else ""
    yield f'<div class="ww-model" id="{id}"><script type="application/json">{text}</script></div>'
    yield "### Its weights, by register\n\nEach cell is a weight that is not 0; hover to read it."
    yield f'<div class="ww-drawn" data-of="{id}"></div>'


def _weights(entry: Theorem) -> Iterator[str]:
    file = entry.weights.partition(":")[0]
    text = _source(file)
    said = ast.get_docstring(ast.parse(text))
    if said:
        proof = "Proof, beside" if entry.build else "Beside"
        yield f"## {proof} the weights\n\n{documented(said, UP)}"
    yield f"<details><summary>{file}</summary>\n\n````python\n{text}\n````\n\n</details>"


def _definition(place: str) -> Iterator[str]:
    file, _, name = place.partition(":")
    parsed = ast.parse(_source(file))
    for node in ast.walk(parsed):
        if isinstance(node, Defined) and node.name == name and (said := ast.get_docstring(node)):
            yield f"## Definition\n\n`{name}` of `{file}`:\n\n{documented(said, UP)}"
            return


def _source(file: str) -> str:
    """The text of a file of the library, as the ledger names it."""
    package, _, rest = file.partition("/")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise InputError(f"{file} of the ledger is in no package that is installed")
    return (Path(spec.origin).parent / rest).read_text(encoding="utf-8")


def _evidence(entry: Theorem, run: Mapping[str, Any] | None) -> Iterator[str]:
    yield f"## Evidence\n\n```sh\n{entry.command}\n```"
    if run is None:
        return
    given = ", ".join(f"{name} {value}" for name, value in run["parameters"].items())
    versions = ", ".join(f"{name} {number}" for name, number in run["environment"].items())
    yield f"{run['claim']} **{run['verdict']}**, run with {escaped(given)}."
    lines = "\n".join(map(_row, run["findings"]))
    table = (
        "<table><thead><tr><th>verdict</th><th>evidence</th><th>what</th><th>measured</th>"
        f"<th>bound</th></tr></thead><tbody>\n{lines}\n</tbody></table>"
    )
    count = len(run["findings"])
    folded = f"<details><summary>{count} findings</summary>\n{table}\n</details>"
    yield f'<div class="ww-wide">{table if count <= FOLDED else folded}</div>'
    if entry.found:
        told = ", ".join(f"`{id}` {verdict}" for id, verdict in entry.found.items())
        yield f"On record as not holding: {told}."
    yield f"Computed by {escaped(versions)}."
    yield documented(run["statement"], UP)


def _row(finding: Mapping[str, Any]) -> str:
    cells = [
        finding["evidence"],
        finding["name"],
        finding["words"] or shown(finding["measured"]),
        finding["wanted"] or shown(finding["bound"]),
    ]
    verdict = finding["verdict"]
    told = "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells)
    return f'<tr><td class="ww-{verdict}">{verdict}</td>{told}</tr>'


def run_of(entry: Theorem, every: Runs) -> Mapping[str, Any] | None:
    """Of these runs that of the claim of a statement, with the options that show it."""
    own = [run for run in every if run["claim"] == entry.claim]
    wanted = {name.replace("-", "_"): value for name, value in entry.options.items()}
    for run in own:
        if all(run["parameters"].get(name) == value for name, value in wanted.items()):
            return run
    return None


def topic_page(topic: str, entries: Iterable[Theorem]) -> str:
    """The statements of a topic, with their pages below."""
    lines = [f"# {topic}", "", "| name | kind | statement |", "|---|---|---|"]
    names = []
    for entry in entries:
        names.append(entry.name)
        told = escaped(entry.statement, UP)
        lines.append(f"| [{entry.name}]({entry.name}.md) | {entry.kind} | {told} |")
    return "\n".join([*lines, "", _toctree(names)])


def index_page(entries: Sequence[Theorem]) -> str:
    """All statements by name, topic by topic."""
    lines = ["# Statements"]
    topics = list(dict.fromkeys(entry.topic for entry in entries))
    for topic in topics:
        names = [entry.name for entry in entries if entry.topic == topic]
        lines.append(f"## [{topic}](topic-{topic}.md)")
        lines.append(" · ".join(f"[{name}]({name}.md)" for name in names))
    return "\n\n".join([*lines, _toctree(f"topic-{topic}" for topic in topics)])


def _toctree(names: Iterable[str]) -> str:
    below = "\n".join(names)
    return f"```{{toctree}}\n:hidden:\n\n{below}\n```\n"


def reference_page() -> str:
    """The bibliography, with a place for each key."""
    lines = [f"## {key}\n\n{text}" for key, text in sorted(references().items())]
    return "# References\n\n" + "\n\n".join(lines) + "\n"


def newton_page() -> str:
    """Points that can be dragged, and transformers of 0 … 8 Newton steps."""
    from constructions import newton

    models = [exported(newton(2, k, 2.0**-5, start="identity")) for k in range(9)]
    text = json.dumps(models).replace("<", "\\u003c")
    return (
        "# Newton's method in a transformer\n\n"
        "Each point is an example, with the features (1, x) and the label y. Drag it, or move it "
        "with the arrow keys. The line is what the transformer of k + 1 layers predicts at each x, "
        "with the [weights of this statement](statements/newton-direct-identity.md): k steps of "
        "Iterative Newton, M ← 2M − M·XᵀX·M from M = I/32. With k the prediction x·M·Xᵀy tends to "
        "that of least squares. The faint lines are those of fewer steps.\n\n"
        f'<div class="ww-newton"><script type="application/json">{text}</script></div>\n\n'
        "At home:\n\n```python\nfrom constructions import newton\n\n"
        'model = newton(2, 8, 2.0**-5, start="identity")\n'
        "print(model([[1, -0.5], [1, 0.5]], [-1.0, 1.0], [1, 0.25]))\n```\n"
    )


def write(folder: Path, every: Runs, names: Sequence[str] = (), *, own: bool = False) -> None:
    """All pages of these statements, or of all, into a folder of Sphinx's sources.

    With `own`, models have the parameters of these runs, as far as they are theirs.
    """
    known = ledger()
    entries = [known[name] for name in names] or list(known.values())
    statements = folder / "statements"
    statements.mkdir(exist_ok=True)
    for entry in entries:
        run = run_of(entry, every)
        at = _parameters(entry, run) if own and run is not None else {}
        put(statements / f"{entry.name}.md", page(entry, run, at))
    topics = list(dict.fromkeys(entry.topic for entry in entries))
    for topic in topics:
        listed = [entry for entry in entries if entry.topic == topic]
        put(statements / f"topic-{topic}.md", topic_page(topic, listed))
    put(statements / "index.md", index_page(entries))
    put(folder / "references.md", reference_page())


def _parameters(entry: Theorem, run: Mapping[str, Any]) -> dict[str, int]:
    """Of a run's parameters those that its model has."""
    given = run["parameters"]
    return {name: given[name] for name in entry.over if type(given.get(name)) is int}


def put(file: Path, text: str) -> None:
    """Write a page, unless it stands there already: what has not changed is not built again."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
