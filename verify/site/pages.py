"""The pages of statements, in Markdown, generated from statement index, code and runs.

A page has the statement and its source, the model with its weights by register, the proof, the
definition and the evidence.  A model over tokens can be run on the page.
"""

from __future__ import annotations

import ast
import html
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from constructions.examples import Examples
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.finding import Verdict, shown
from verify.ledger.build import CONSTRUCTIONS, NAMES
from verify.ledger.claims import installed
from verify.ledger.theorems import Theorem, entries_of, ledger
from verify.site.circuits import shown_circuit
from verify.site.exported import exported, runs
from verify.site.prose import documented, escaped, mathematics, references
from verify.site.shown import DRAWN, code, model_of, weights

Runs = Sequence[Mapping[str, Any]]  # runs of claims, as `verify NAME --json` writes them

NEXT = "\n"  # a line break within a cell of a table
UP = "../"  # from a page of a statement to the pages beside their folder
Defined = ast.FunctionDef | ast.ClassDef
CELLS = (
    "Each cell is a non-zero entry: of `W_E`, `W_pos`, `W_U` and the MLP's matrices, and of the "
    "products `W_Q W_Kᵀ` (scores) and `W_V W_O` (value to output) of a head. 1 is the constant "
    "that biases multiply. Hover over a cell to read it."
)
NOTES = {  # explanations of functions in formulas of sizes
    "bits(": "For 1 symbol, ⌈log₂ 1⌉ counts as 1 here.",
    "ones(": "ones(k) is the number of binary digits of k that are 1.",
}
FOLDED = 25  # the number of findings above which the table is folded


def page(entry: Theorem, ran: Runs, at: Mapping[str, int]) -> str:
    """Returns the page of a statement, with the model at the parameters `at` and the runs `ran`."""
    return "\n\n".join(filter(None, _parts(entry, ran, at))) + "\n"


def _parts(entry: Theorem, ran: Runs, at: Mapping[str, int]) -> Iterator[str]:
    yield f"# {entry.name}"
    yield f"*{entry.kind}* · {entry.standing} · [{entry.topic}](topic-{entry.topic}.md)"
    if entry.hypotheses != "none":
        yield f"*Hypotheses.* {escaped(entry.hypotheses, UP)}"
    yield "\n".join(f"> {line}" for line in escaped(entry.statement, UP).splitlines())
    yield f"Source: {escaped(entry.source, UP)}"
    if entry.outcome:
        yield f"Outcome: {escaped(entry.outcome, UP)}"
    yield _sizes(entry)
    if entry.unproved:
        yield f"Used without proof: {escaped(entry.unproved, UP)}"
    if entry.machine_checked_part:
        yield f"Machine-checked in part: {escaped(entry.machine_checked_part, UP)}"
    if entry.open:
        yield f"Open: {escaped(entry.open, UP)}"
    found = model_of(entry, at)
    if found is not None:
        yield from _model(entry, *found)
    if entry.weights:
        yield from _weights(entry)
    if entry.theory:
        yield from _definition(entry.theory)
    yield f"## Evidence\n\nScope: {escaped(entry.scope, UP)}.\n\n```sh\n{entry.command}\n```"
    for run in ran:
        yield from _evidence(entry, run)
    if entry.found and ran:
        record = ", ".join(f"`{id}` {verdict}" for id, verdict in entry.found.items())
        yield f"Recorded verdicts: {record}."
    files = {"theory": entry.theory, "proof": entry.proof}
    files |= {"weights": entry.weights, "test": entry.test}
    listed = [f"{what} `{file}`" for what, file in files.items() if file]
    listed += [f"machine-checked `{place}`" for place in entry.machine_checked]
    yield f"## In the source\n\n{', '.join(listed)}."


def _sizes(entry: Theorem) -> str:
    if not entry.sizes:
        return ""
    names = " | ".join(entry.sizes)
    formulas = " | ".join(mathematics(formula.latex()) for formula in entry.sizes.values())
    text = " ".join(formula.text for formula in entry.sizes.values())
    notes = [note for word, note in NOTES.items() if word in text]
    table = f"| {names} |\n|{'---|' * len(entry.sizes)}\n| {formulas} |"
    return "\n\n".join([table, *notes])


def _model(entry: Theorem, model: Any, values: Mapping[str, int]) -> Iterator[str]:
    yield f"## The model\n\n{_imports(entry)}"
    yield f"```python\n{code(entry, values)}\n```\n\n```text\n{model}\n```"
    if formulas := _formulas(entry, model, values):
        yield formulas
    if isinstance(model.interface, Tokens) and (text := shown_circuit(model)):
        yield text
    if weights(model) > DRAWN:
        yield f"It has {weights(model)} non-zero weights, too many for a page."
        return
    data = exported(model)
    text = json.dumps(data).replace("<", "\\u003c")
    id = f"model-{entry.name}"
    yield "### Run it" if runs(model) else ""
    yield f'<div class="ww-model" id="{id}"><script type="application/json">{text}</script></div>'
    yield f"### Its weights, by register\n\n{CELLS}"
    yield f'<div class="ww-drawn" data-of="{id}"></div>'


def _formulas(entry: Theorem, drawn: Transformer, values: Mapping[str, int]) -> str:
    """The formulas of the registers, for a model to which the theorem on them applies.

    The model has at most three steps, and d ≥ 2, since vectors and scalars have the same width for
    d = 1.
    """
    if not isinstance(drawn.interface, Examples):
        return ""
    limits = {"d": lambda d: max(d, 2), "k": lambda k: min(k, 3)}
    few = {name: limits[name](value) if name in limits else value for name, value in values.items()}
    model, _ = model_of(entry, few) or (drawn, values)
    try:
        text = model.derivation()
    except InputError:
        return ""
    sizes = "d, n" if model.interface.n is None else "d"
    return f"### Its formulas, for all {sizes} and inputs\n\n```text\n{text}\n```"


def _imports(entry: Theorem) -> str:
    """The constructions of a model, as links to their pages."""
    names = {node.id for node in ast.walk(ast.parse(entry.build)) if isinstance(node, ast.Name)}
    homes = {name: NAMES[name].__module__.split(".")[:2] for name in names & {*CONSTRUCTIONS}}
    return ", ".join(f"{{py:obj}}`{'.'.join([*homes[name], name])}`" for name in sorted(homes))


def _weights(entry: Theorem) -> Iterator[str]:
    file = entry.weights.partition(":")[0]
    text = _source(file)
    docstring = ast.get_docstring(ast.parse(text))
    if docstring:
        proof = "Proof, beside" if entry.build else "Beside"
        yield f"## {proof} the weights\n\n{documented(docstring, UP)}"
    yield f"<details><summary>{file}</summary>\n\n````python\n{text}\n````\n\n</details>"


def _definition(place: str) -> Iterator[str]:
    file, _, name = place.partition(":")
    parsed = ast.parse(_source(file))
    for node in ast.walk(parsed):
        if isinstance(node, Defined) and node.name == name and (text := ast.get_docstring(node)):
            link = f"{{py:obj}}`~{'.'.join([*file.split('/')[:2], name])}`"
            yield f"## Definition\n\n{link} of `{file}`:\n\n{documented(text, UP)}"
            return


def _source(file: str) -> str:
    """The text of a file of the library that the statement index names."""
    package, _, rest = file.partition("/")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise InputError(f"{file} belongs to a package that is not installed: install this package")
    return (Path(spec.origin).parent / rest).read_text(encoding="utf-8")


def _evidence(entry: Theorem, run: Mapping[str, Any]) -> Iterator[str]:
    given = ", ".join(f"{name} {value}" for name, value in run["parameters"].items())
    versions = ", ".join(f"{name} {number}" for name, number in run["environment"].items())
    yield f"{run['claim']} **{run['verdict']}**, run with {escaped(given)}."
    if others := _apart(entry, run):
        changed = ", ".join(f"{name} {value}" for name, value in others.items())
        yield (
            f"With {escaped(changed)} this run is for another statement of the claim; its findings "
            "cover this statement in part."
        )
    lines = "\n".join(map(_row, run["findings"]))
    table = (
        "<table><thead><tr><th>verdict</th><th>evidence</th><th>what</th><th>measured</th>"
        f"<th>bound</th></tr></thead><tbody>\n{lines}\n</tbody></table>"
    )
    count = len(run["findings"])
    folded = f"<details><summary>{count} findings</summary>\n{table}\n</details>"
    yield f'<div class="ww-wide">{table if count <= FOLDED else folded}</div>'
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
    if verdict != Verdict.HOLDS:
        cells[1] = "\n".join([cells[1], *filter(str.strip, finding["detail"].splitlines())])
    row = "".join(f"<td>{html.escape(str(each)).replace(NEXT, '<br>')}</td>" for each in cells)
    return f'<tr><td class="ww-{verdict}">{verdict}</td>{row}</tr>'


def runs_of(entry: Theorem, every: Runs) -> Runs:
    """Returns the runs of a statement's claim with the options that show the statement.

    If there are no such runs, returns the runs of the claim with other options.
    """
    wanted = {name.replace("-", "_"): value for name, value in entry.options.items()}
    own = [run for run in every if run["claim"] == entry.claim]
    own = [r for r in own if all(r["parameters"].get(name) == v for name, v in wanted.items())]
    return [run for run in own if not _apart(entry, run)] or own


def _apart(entry: Theorem, run: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run that belong to other statements of the claim."""
    named = {name for each in entries_of(entry.claim) for name in each.options} - {*entry.options}
    options = {name.replace("-", "_") for name in named}
    defaults = installed()[entry.claim].load().defaults if options else {}
    given = run["parameters"]
    return {name: given[name] for name in options & {*given} if given[name] != defaults[name]}


def topic_page(topic: str, entries: Iterable[Theorem]) -> str:
    """Returns the page of a topic: a list of the topic's statements, with links to their pages."""
    lines = [f"# {topic}", "", "| name | kind | | statement |", "|---|---|---|---|"]
    names = []
    for entry in entries:
        names.append(entry.name)
        text = escaped(entry.statement, UP)
        kinds = f"{entry.kind} | {entry.standing}"
        lines.append(f"| [{entry.name}]({entry.name}.md) | {kinds} | {text} |")
    return "\n".join([*lines, "", _toctree(names)])


def index_page(entries: Sequence[Theorem]) -> str:
    """Returns the page that lists all statements by topic."""
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
    """Returns the page of the bibliography, with a heading for each key."""
    lines = [f"## {key}\n\n{text}" for key, text in sorted(references().items())]
    return "# References\n\n" + "\n\n".join(lines) + "\n"


def newton_model() -> str:
    """Returns the HTML of draggable examples with the predictions of 0 … 8 Newton steps.

    The predictions are computed by transformers.
    """
    from constructions import newton

    models = [exported(newton(2, k, 2.0**-5, start="identity")) for k in range(9)]
    text = json.dumps(models).replace("<", "\\u003c")
    return f'<div class="ww-newton"><script type="application/json">{text}</script></div>'


def newton_page() -> str:
    """Returns the page of `newton_model`, with an explanation and the same model in Python."""
    return (
        "# Newton's method in a transformer\n\n"
        "Each point is an example, with the features (1, x) and the label y. Drag it, or move it "
        "with the arrow keys. The line shows the predictions of the transformer of k + 1 layers, "
        "with the [weights of this statement](statements/newton-direct-identity.md): k steps of "
        "the Newton–Schulz iteration, M ← 2M − M·XᵀX·M from M = I/32. As k grows, the prediction "
        "x·M·Xᵀy converges to that of least squares. The faint lines show fewer steps.\n\n"
        f"{newton_model()}\n\n"
        "The same in Python:\n\n```python\nfrom constructions import newton\n\n"
        'model = newton(2, 8, 2.0**-5, start="identity")\n'
        "print(model([[1, -0.5], [1, 0.5]], [-1.0, 1.0], [1, 0.25]))\n```\n"
    )


def pages(every: Runs, names: Sequence[str] = (), *, own: bool = False) -> dict[str, str]:
    """Returns the pages of the statements `names` (by default, of all), by path.

    Paths are in Sphinx's source folder. With `own`, each model has the parameters of the first run
    of the statement.
    """
    known = ledger()
    entries = [known[name] for name in names] or list(known.values())
    made = {"statements/index.md": index_page(entries), "references.md": reference_page()}
    for entry in entries:
        ran = runs_of(entry, every)
        at = parameters(entry, ran[0]) if own and ran else {}
        made[f"statements/{entry.name}.md"] = page(entry, ran, at)
    for topic in dict.fromkeys(entry.topic for entry in entries):
        listed = [entry for entry in entries if entry.topic == topic]
        made[f"statements/topic-{topic}.md"] = topic_page(topic, listed)
    return made


def parameters(entry: Theorem, run: Mapping[str, Any]) -> dict[str, int]:
    """The parameters of a statement's model, from the options of a run.

    A parameter p gets the value of the option p or, if `build` passes p as the keyword argument
    arg=p, the value of the option arg.
    """
    given = run["parameters"]
    options = {
        node.value.id: node.arg
        for node in ast.walk(ast.parse(entry.build))
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Name)
    }
    values = {name: given.get(options.get(name, name)) for name in entry.over}
    return {name: value for name, value in values.items() if type(value) is int}


def write(folder: Path, made: Mapping[str, str]) -> None:
    """Writes the pages that have changed; Sphinx does not build unchanged pages again."""
    for place, text in made.items():
        file = folder / place
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def keep(folder: Path, places: Container[str], *suffixes: str) -> None:
    """Removes all files with these suffixes from a folder, except for those in `places`.

    Folders whose names begin with `_` belong to Sphinx and are not changed.
    """
    for file in [*folder.rglob("*")]:
        place = file.relative_to(folder)
        own = place.parts[0].startswith("_")
        if file.suffix in suffixes and not own and place.as_posix() not in places:
            file.unlink()
