"""What a sequence model did with one prompt, in words.

    layer 1: code → previous:  cat(2) ← the(1), sat(3) ← cat(2), …
    layer 2: code → answer:  the(5) ← cat(2)
    answer: cat

A token is shown with its position, from 1; "BOS" is the token in front of the sequence, and
"prior:cat" a virtual observation.  `a ← b` says that a looked at b, and `= c` what it holds since,
where that is not b itself: the token that the code was taken from, or the one pointed to.

Shape glossary: T tokens of the prompt, those in front of the sequence included; D the width.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError

if TYPE_CHECKING:
    from constructions.attention import Attention
    from constructions.retrieval import SequenceModel
    from constructions.transformer import Block

LINE, GROUPS, SOURCES = 96, 12, 5  # characters; moves of a head, and tokens of an average, shown
ENDS = (".", "?", "!")
NOTHING = -1  # the origin of a register that holds no single token's code


def word_tokens(text: str) -> tuple[list[int], list[str]]:
    """The tokens of a prompt whose vocabulary is its own words, and the words, one per token.

    Words are runs of letters, digits and "_" in any script, which "'", "’" and "-" may join; "’" is
    written as "'".  Any other visible character is a word of its own, and so is the possessive
    "'s".  Tokens count the distinct words by first appearance.  Upper and lower case differ, except
    that the first word of a sentence is written as it is elsewhere: "The cat saw the" has the word
    "the" twice.

    Raises ValueError for a text without words.
    """
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    # Accents and vowel signs, which are no \w, belong to the letter before them.
    marks = "".join(sorted({c for c in text if unicodedata.category(c)[0] == "M"}))
    mark = f"[{re.escape(marks)}]" if marks else "(?!)"
    letter = rf"(?:\w{mark}*)"
    word = rf"'s(?!\w)|{letter}+(?:(?!'s(?!\w))['-]{letter}+)*|\S{mark}*"
    words = [w for w in re.findall(word, text) if any(unicodedata.category(c)[0] != "C" for c in w)]
    if not words:
        raise InputError("the prompt is empty: give at least one word")
    elsewhere = {w for before, w in itertools.pairwise(words) if before not in ENDS}
    for i, w in enumerate(words):
        lower = w[0].lower() + w[1:]
        if (i == 0 or words[i - 1] in ENDS) and lower in elsewhere:
            words[i] = lower
    number = {w: token for token, w in enumerate(dict.fromkeys(words))}
    return [number[w] for w in words], words


def labels(model: SequenceModel, tokens: ArrayLike, words: Sequence[str]) -> list[str]:
    """A name for each token of the prompt (T,): BOS or prior:word in front, then the words.

    Raises ValueError unless `tokens` is one sequence with as many words.
    """
    row = checks.one_sequence("tokens", tokens, model.prompt.vocabulary_size)
    if len(words) != len(row):
        raise InputError(f"there are {len(words)} words for {len(row)} tokens: give one for each")
    known = _known(row, words)
    observed = (_observed(model, token) for token in model.prompt.prefix)
    front = ["BOS" if v is None else f"prior:{known.get(v, v)}" for v in observed]
    return [*front, *words]


def narrate(model: SequenceModel, tokens: ArrayLike, words: Sequence[str]) -> list[str]:
    """Which token took what from where in each layer, for one sequence, and the answer at its end.

    `words` label the tokens.  Moves of zeros (from a BOS, say) are left out, except that of the
    last token in the last layer.  A softmax model's weights below one per cent are left out.

    Raises ValueError unless `tokens` is one sequence with as many words.
    """
    names = labels(model, tokens, words)
    story = _Story(model, names, next(model.streams(tokens)).numpy())
    lines = []
    for number, (block, states) in enumerate(
        zip(model.blocks, states_by_layer(model, tokens), strict=True), start=1
    ):
        final = number == model.n_layers
        story.begin_layer()
        if (attn := block.attn) is not None:
            for h in range(attn.n_heads):
                title = f"layer {number}" + (f", head {h + 1}" if attn.n_heads > 1 else "")
                parts = added_parts(model, block, h)
                lines += story.head(title, parts, attn, h, states, final)
        if block.mlp is not None:
            story.follow_mlp(states)
            moves = [line.removeprefix("mlp: ") for line in block.lines if line.startswith("mlp: ")]
            lines.append(f"layer {number}, mlp: {'; '.join(moves)}")
    return [*lines, f"answer: {answer_word(model, tokens, words)}"]


def answer_word(model: SequenceModel, tokens: ArrayLike, words: Sequence[str]) -> str:
    """The model's answer at the last token, in words."""
    answer = int(model(np.asarray(tokens))[-1])
    known = _known(np.asarray(tokens).tolist(), words)
    return "none (⊥)" if answer < 0 else known.get(answer, f"token {answer}")


def _known(tokens: list[int], words: Sequence[str]) -> dict[int, str]:
    """The word of each token that occurs, as it is written the first time."""
    return dict(zip(reversed(tokens), reversed(words), strict=True))


@dataclass(frozen=True)
class States:
    """The stream (T, D) before a layer, after its heads, after its MLP; patterns (heads, T, ·)."""

    before: np.ndarray
    between: np.ndarray
    after: np.ndarray
    patterns: np.ndarray


def states_by_layer(model: SequenceModel, tokens: ArrayLike) -> Iterator[States]:
    """What each layer does to one sequence."""
    n_examples = model.prompt.n_examples
    streams = itertools.pairwise(model.streams(tokens))
    for block, (H, after) in zip(model.blocks, streams, strict=True):
        between, patterns = H, np.zeros((0, len(H), len(H)))
        if block.attn is not None:
            between = H + block.attn(H, n_examples)
            patterns = block.attn.pattern(H, n_examples).numpy()
        yield States(H.numpy(), between.numpy(), after.numpy(), patterns)


@dataclass(frozen=True)
class Part:
    """What one head adds to the register `into`: the registers it carries, and in words."""

    into: str
    registers: tuple[str, ...]
    words: str
    copies: bool  # one register, unchanged


def added_parts(model: SequenceModel, block: Block, h: int) -> list[Part]:
    """What head h of a layer adds, from W_V W_O (D, D), whose blocks are registers."""
    from constructions.stream import Reading

    if block.attn is None:
        return []
    stream, parts = model.stream, []
    W = (block.attn.W_V[h] @ block.attn.W_O[h]).numpy()
    for into in stream:
        blocks = {name: W[stream[name], stream[into]] for name in stream}
        blocks = {name: block for name, block in blocks.items() if block.any()}
        if not blocks:
            continue
        multiples = {name: float(block.flat[0]) for name, block in blocks.items()}
        plain = all(
            np.array_equal(block, multiples[name] * np.eye(len(block), block.shape[1]))
            for name, block in blocks.items()
        )
        positive_first = dict(sorted(multiples.items(), key=lambda term: term[1] < 0))
        reading = Reading(positive_first, stream.widths[into])
        words = str(reading) if plain else ", ".join(blocks)
        copies = plain and list(multiples.values()) == [1.0]
        parts.append(Part(into, tuple(blocks), words, copies))
    return parts


class _Story:
    """Follows, layer by layer, which token's embedding every register holds."""

    def __init__(self, model: SequenceModel, names: list[str], H: np.ndarray) -> None:
        self.stream, self.front = model.stream, len(model.prompt.prefix)
        self.names = [
            name if i < self.front else f"{name}({i - self.front + 1})"
            for i, name in enumerate(names)
        ]
        here = np.arange(len(names))
        self.origin = {
            name: np.where(H[:, model.stream[name]].any(1), here, NOTHING) for name in model.stream
        }
        self.before = self.origin
        self.places, self.pointers = _places(model, len(names))

    def begin_layer(self) -> None:
        """Heads of one layer read what the stream held before any of them wrote."""
        self.before = {name: origin.copy() for name, origin in self.origin.items()}

    def head(
        self, title: str, parts: list[Part], attn: Attention, h: int, states: States, final: bool
    ) -> list[str]:
        """The lines of one head, and the origins after it."""
        pattern = states.patterns[h]
        carried = states.before[: pattern.shape[1]] @ (attn.W_V[h] @ attn.W_O[h]).numpy()
        hard = attn.normalise == "hardmax"
        seen = pattern > (0 if hard else 0.01)
        moved = abs(pattern @ carried).max(1) > (1e-9 if hard else 0.05)
        self._follow(parts, pattern, states)
        moves = [
            (i, self._sources(pattern[i], seen[i]), self._held(parts, seen[i], states, i))
            for i in range(self.front, len(pattern))
            if moved[i]
        ]
        groups = [list(group) for _, group in itertools.groupby(moves, lambda move: move[1:])]
        shown = [f"{self._runs(group)} ← {group[0][1]}{group[0][2]}" for group in groups]
        if len(shown) > GROUPS:
            dropped = len(shown) - GROUPS + 1
            shown = [*shown[: GROUPS - 2], f"… {dropped} more …", shown[-1]]
        if final and not moved[-1]:
            shown.append(f"{self.names[-1]} ← {self._sources(pattern[-1], seen[-1])}: nothing")
        elif not shown:
            blind = not seen[self.front :, self.front :].any()
            shown.append("nothing, every token looks at BOS" if blind else "nothing")
        what = ", ".join(f"{part.words} → {part.into}" for part in parts)
        return _wrapped(f"{title}: {what}:  ", shown)

    def _runs(self, moves: list[tuple[int, str, str]]) -> str:
        """The tokens of equal moves; of more than two neighbours, is(2) … Helen(5)."""
        tokens = enumerate(move[0] for move in moves)
        runs = [[i for _, i in run] for _, run in itertools.groupby(tokens, lambda t: t[1] - t[0])]
        return ", ".join(
            f"{self.names[run[0]]} … {self.names[run[-1]]}"
            if len(run) > 2
            else ", ".join(self.names[i] for i in run)
            for run in runs
        )

    def _sources(self, weights: np.ndarray, seen: np.ndarray) -> str:
        """The tokens looked at, with their weights if they are several."""
        chosen = np.flatnonzero(seen)
        if len(chosen) == 1:
            return self.names[chosen[0]]
        totals: dict[str, float] = {}
        for j in chosen:
            totals[self.names[j]] = totals.get(self.names[j], 0.0) + float(weights[j])
        least = float(weights[chosen].min())
        even = np.allclose(weights[chosen], least, rtol=1e-6)
        many = len(totals) - SOURCES if len(totals) > SOURCES + 1 else 0
        kept = list(totals.items())[: SOURCES if many else None]
        if even and max(totals.values()) < 1.5 * least:
            text = f"1/{len(chosen)} each of " + ", ".join(name for name, _ in kept)
        elif even:
            text = " + ".join(f"{round(w / least)}/{len(chosen)} {name}" for name, w in kept)
        else:
            text = " + ".join(f"{w:.2f} {name}" for name, w in kept)
        return text + (f" and {many} more" if many else "")

    def _held(self, parts: list[Part], seen: np.ndarray, states: States, i: int) -> str:
        """What the registers hold after the move, where it is not the token looked at."""
        sources, said = np.flatnonzero(seen), list[tuple[str, str]]()
        if len(sources) != 1:
            return ""
        for part in parts:
            if part.into in self.pointers:
                token = self._pointed_to(states.between[i, self.stream[part.into]])
            else:
                token = int(self.origin[part.into][i])
            if token not in (NOTHING, sources[0]):
                said.append((part.into, self.names[token]))
        if not said or len(parts) == 1:
            return "".join(f" = {name}" for _, name in said)
        return " with " + " and ".join(f"{into} = {name}" for into, name in said)

    def _pointed_to(self, point: np.ndarray) -> int:
        """The prompt position at this point; softmax moves points a little."""
        distances = abs(self.places - point).max(1)
        nearest = int(distances.argmin())
        return nearest if distances[nearest] < 0.25 else NOTHING

    def _follow(self, parts: list[Part], pattern: np.ndarray, states: States) -> None:
        """The origins after a head's moves."""
        winner = pattern.argmax(1)
        single = pattern.max(1) > 0.99
        for part in parts:
            new, before = self.origin[part.into].copy(), states.before[:, self.stream[part.into]]
            source = self.before[part.registers[0]][winner]
            known = single & ~before.any(1) & part.copies
            carried = states.between[:, self.stream[part.into]] - before
            new = np.where(carried.any(1), np.where(known, source, NOTHING), new)
            self.origin[part.into] = new

    def follow_mlp(self, states: States) -> None:
        """The origins after an MLP: a register that it overwrote has another's value, or none's."""
        old = {name: origin.copy() for name, origin in self.origin.items()}
        for into in self.stream:
            was, is_now = (H[:, self.stream[into]] for H in (states.between, states.after))
            for i in np.flatnonzero(abs(was - is_now).max(1) > 1e-9):
                self.origin[into][i] = next(
                    (
                        old[name][i]
                        for name in self.stream
                        if np.array_equal(states.between[i, self.stream[name]], is_now[i])
                        and is_now[i].any()
                    ),
                    NOTHING,
                )


def _places(model: SequenceModel, T: int) -> tuple[np.ndarray, set[str]]:
    """The points of the prompt's positions (T, width), and the registers that hold such points."""
    if model.pos_embed is None or "place" not in model.stream:
        return np.zeros((T, 1)), set()
    stream, W_pos = model.stream, model.pos_embed.W_pos.numpy()
    width = stream.widths["place"]
    pointers = {
        name for name, w in stream.widths.items() if w == width and W_pos[:, stream[name]].any()
    }
    for block in model.blocks:
        for h in range(0 if block.attn is None else block.attn.n_heads):
            parts = added_parts(model, block, h)
            pointers |= {part.into for part in parts if pointers.issuperset(part.registers)}
    return W_pos[:T, stream["place"]], pointers


def pointed_to(model: SequenceModel, points: np.ndarray) -> np.ndarray:
    """The prompt positions (T,) whose `place` is nearest to each of the points (T, width)."""
    places, _ = _places(model, len(points))
    return ((points[:, None] - places[None]) ** 2).sum(-1).argmin(1)


def _observed(model: SequenceModel, token: int) -> int | None:
    """The symbol that a token in front of the sequence stands for, if it stands for one."""
    W_E, V = model.embed.W_E.numpy(), model.prompt.vocabulary_size
    for name in model.stream:
        register = W_E[:, model.stream[name]]
        if len(np.unique(register[:V], axis=0)) == V and register[token].any():
            same = np.flatnonzero((register[:V] == register[token]).all(1))
            if len(same):
                return int(same[0])
    return None


def _wrapped(head: str, moves: list[str]) -> list[str]:
    """`head` and the moves on lines of at most LINE characters, where a move fits on one."""
    separator = "; " if any(" of " in move or " + " in move for move in moves) else ", "
    lines = [head]
    for i, move in enumerate(moves):
        piece = move + (separator if i < len(moves) - 1 else "")
        if len(lines[-1] + piece.rstrip()) > LINE and lines[-1].strip():
            lines.append("    ")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
