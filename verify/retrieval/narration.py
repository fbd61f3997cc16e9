"""The computation of a sequence model on one prompt, in words.

    layer 1: code → previous:  cat(2) ← the(1), sat(3) ← cat(2), …
    layer 2: code → answer:  the(5) ← cat(2)
    answer: cat

A token is shown with its position, counted from 1. "BOS" is the token before the sequence, and
"prior:cat" is a virtual observation. `a ← b` means that a attends to b. After the head, the
register of a contains the code of a token c, or points to c; a suffix `= c` is shown if c is not b.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from constructions.transformer import Transformer
from verify.retrieval.snapshots import Part, Snapshot, added_parts, places, snapshots
from verify.retrieval.words import answer_word, labels

LINE, GROUPS, SOURCES = 96, 12, 5  # characters; largest numbers of moves and tokens shown
NOTHING = -1  # the origin of a register that is not the code of a single token


def narrate(model: Transformer, tokens: ArrayLike, words: Sequence[str]) -> list[str]:
    """A text that lists what each head moves in each layer, and the answer at the last token.

    A move consists of a token, the token attended to and the value moved.

    `words` contains a label for each token. Moves of zeros (for example from BOS) are omitted,
    except the move of the last token in the last layer. Softmax weights below one per cent are
    omitted.

    Raises ValueError unless `tokens` is one sequence of as many tokens as there are `words`.
    """
    names = labels(model, tokens, words)
    story = _Story(model, names, next(model.streams(tokens)).numpy())
    lines = []
    for number, snapshot in enumerate(snapshots(model, tokens), start=1):
        # All heads of a layer read the stream before the layer.
        story.before = dict(story.origin)
        heads = len(snapshot.patterns)
        for h in range(heads):
            title = f"layer {number}" + (f", head {h + 1}" if heads > 1 else "")
            lines += story.head(title, snapshot, h, final=number == model.n_layers)
        if snapshot.block.mlp is not None:
            story.follow_mlp(snapshot)
            mlp = [line for line in snapshot.block.lines if line.startswith("mlp: ")]
            moves = "; ".join(line.removeprefix("mlp: ") for line in mlp)
            lines.append(f"layer {number}, mlp: {moves}")
    return [*lines, f"answer: {answer_word(model, tokens, words)}"]


class _Story:
    """Tracks, layer by layer, the token whose embedding each register contains."""

    def __init__(self, model: Transformer, names: list[str], H: np.ndarray) -> None:
        self.model, self.stream, self.front = model, model.stream, len(model.interface.prefix)
        numbered = (f"{name}({i})" for i, name in enumerate(names[self.front :], start=1))
        self.names = [*names[: self.front], *numbered]
        here = np.arange(len(names))
        self.origin = {
            name: np.where(H[:, model.stream[name]].any(1), here, NOTHING) for name in model.stream
        }
        self.before = self.origin
        self.places, self.pointers = places(model, len(names))

    def head(self, title: str, snapshot: Snapshot, h: int, final: bool) -> list[str]:
        """The lines of one head; updates the origins."""
        parts = added_parts(self.model, snapshot.block, h)
        attn, pattern = snapshot.block.attn, snapshot.patterns[h]
        assert attn is not None
        values = snapshot.before[: pattern.shape[1]] @ (attn.W_V[h] @ attn.W_O[h]).numpy()
        hard = attn.normalise == "hardmax"
        seen = pattern > (0 if hard else 0.01)
        moved = abs(pattern @ values).max(1) > (1e-9 if hard else 0.05)
        self._follow(parts, pattern, snapshot)
        moves = [
            (i, self._sources(pattern[i], seen[i]), self._contents(parts, seen[i], snapshot, i))
            for i in range(self.front, len(pattern))
            if moved[i]
        ]
        groups = [list(group) for _, group in itertools.groupby(moves, lambda move: move[1:])]
        shown = [f"{self._runs(group)} ← {group[0][1]}{group[0][2]}" for group in groups]
        if len(shown) > GROUPS:
            shown = [*shown[: GROUPS - 2], f"… {len(shown) - GROUPS + 1} more …", shown[-1]]
        if final and not moved[-1]:
            shown.append(f"{self.names[-1]} ← {self._sources(pattern[-1], seen[-1])}: nothing")
        elif not shown:
            blind = not seen[self.front :, self.front :].any()
            shown.append("nothing, every token attends to BOS" if blind else "nothing")
        what = ", ".join(f"{part.words} → {part.into}" for part in parts)
        return _wrapped(f"{title}: {what}:  ", shown)

    def _runs(self, moves: list[tuple[int, str, str]]) -> str:
        """The tokens of equal moves; more than two neighbours are shortened to is(2) … Helen(5)."""
        tokens = enumerate(move[0] for move in moves)
        runs = itertools.groupby(tokens, lambda t: t[1] - t[0])
        named = ([self.names[i] for _, i in run] for _, run in runs)
        return ", ".join(f"{s[0]} … {s[-1]}" if len(s) > 2 else ", ".join(s) for s in named)

    def _sources(self, weights: np.ndarray, seen: np.ndarray) -> str:
        """The tokens attended to, with their weights if there are several."""
        chosen = np.flatnonzero(seen)
        if len(chosen) == 1:
            return self.names[chosen[0]]
        totals: dict[str, float] = {}
        for j in chosen:
            totals[self.names[j]] = totals.get(self.names[j], 0.0) + float(weights[j])
        least = float(weights[chosen].min())
        uniform = np.allclose(weights[chosen], least, rtol=1e-6)
        many = len(totals) - SOURCES if len(totals) > SOURCES + 1 else 0
        shown = list(totals.items())[: SOURCES if many else None]
        if uniform and max(totals.values()) < 1.5 * least:
            text = f"1/{len(chosen)} each of " + ", ".join(name for name, _ in shown)
        elif uniform:
            text = " + ".join(f"{round(w / least)}/{len(chosen)} {name}" for name, w in shown)
        else:
            text = " + ".join(f"{w:.2f} {name}" for name, w in shown)
        return text + (f" and {many} more" if many else "")

    def _contents(self, parts: list[Part], seen: np.ndarray, snapshot: Snapshot, i: int) -> str:
        """The registers written, each with its token if that differs from the token attended to."""
        sources, contents = np.flatnonzero(seen), []
        if len(sources) != 1:
            return ""
        for part in parts:
            token = int(self.origin[part.into][i])
            if part.into in self.pointers:
                distances = abs(self.places - snapshot.between[i, self.stream[part.into]]).max(1)
                # Under softmax, the register contains the point of a position up to a small error.
                token = int(distances.argmin()) if distances.min() < 0.25 else NOTHING
            if token not in (NOTHING, sources[0]):
                contents.append(f"{part.into} = {self.names[token]}")
        if len(parts) == 1:
            return "".join(text.removeprefix(parts[0].into) for text in contents)
        return " with " * bool(contents) + " and ".join(contents)

    def _follow(self, parts: list[Part], pattern: np.ndarray, snapshot: Snapshot) -> None:
        """Updates the origins after a head."""
        winner, single = pattern.argmax(1), pattern.max(1) > 0.99
        for part in parts:
            span, origin = self.stream[part.into], self.origin[part.into]
            source = self.before[part.registers[0]][winner]
            known = single & ~snapshot.before[:, span].any(1) & part.copies
            written = (snapshot.between != snapshot.before)[:, span].any(1)
            self.origin[part.into] = np.where(written, np.where(known, source, NOTHING), origin)

    def follow_mlp(self, snapshot: Snapshot) -> None:
        """Updates the origins after an MLP, which may copy a register to another register."""
        old = dict(self.origin)
        for into in self.stream:
            was, is_now = (H[:, self.stream[into]] for H in (snapshot.between, snapshot.after))
            self.origin[into] = old[into].copy()
            for i in np.flatnonzero(abs(was - is_now).max(1) > 1e-9):
                values = {name: snapshot.between[i, self.stream[name]] for name in self.stream}
                same = [old[name][i] for name in values if np.array_equal(values[name], is_now[i])]
                self.origin[into][i] = same[0] if same else NOTHING


def _wrapped(head: str, moves: list[str]) -> list[str]:
    """`head` and the moves in lines of at most LINE characters, if each move fits."""
    separator = "; " if any(" of " in move or " + " in move for move in moves) else ", "
    lines = [head]
    for i, move in enumerate(moves):
        piece = move + (separator if i < len(moves) - 1 else "")
        if len(lines[-1] + piece.rstrip()) > LINE:
            lines.append("    ")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
