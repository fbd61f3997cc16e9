"""The theorems of the proofs, stated once more, and statements changed in one number."""

import subprocess
from pathlib import Path

import pytest
from compiled_proofs import copied

from theory.proofs.check import OPTIONS, Rejected, checked, missing, sources, with_imports

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"Rocq is not installed: {missing()}"),
]


@pytest.fixture
def kept(tmp_path) -> Path:
    """A folder of compiled proofs, of which a test compiles those that it changes."""
    return copied(tmp_path)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("reading", "'X * kernel h f * moved", "kernel h f * moved"),
        ("reading", "(a f s)%:P + 'X * g f s", "(a f s)%:P + g f s"),
        ("newton_direct", "if s is gram then k.+2 else k.+1", "if s is gram then k.+1 else k"),
        ("newton_direct", "half ^+ j *: (input *m", "half ^+ j.+1 *: (input *m"),
        ("newton_direct", "[:: (2%:R ^+ k, u, x)]", "[:: (2%:R ^+ k.+1, u, x)]"),
        ("newton_direct", "(- (2%:R ^+ j * half), u, u)", "(- 2%:R ^+ j, u, u)"),
        ("gradient_descent", "layers (gradient_descent k)) = k.", "layers _) = k.-1."),
        ("gradient_descent", "(- eta, e, e)", "(- (eta + eta), e, e)"),
        ("ladder_terms", "(c + c, u a, u o)", "(c, u a, u o)"),
        ("ladder_terms", "- (c *: ('X * p F (e a) ^+ 3))", "- (c *: ('X * p F (e a) ^+ 2))"),
        ("ladder_gram", "Image => 3 | Pair => 5", "Image => 1 | Pair => 5"),
        ("ladder_gram", "Image => 3 | Pair => 5", "Image => 3 | Pair => 3"),
        ("ladder_gram", "Image, 2 | Pair, 2 => Pair", "Image, 2 => Image | Pair, 2 => Pair"),
        (
            "ladder_gram",
            "(gram_ladder N)) = up_log 3 (4 * N).+1",
            "(gram_ladder N)) = up_log 3 N",
        ),
        ("ladder_gram", "gram_powers (up_log 3 (4 * N).+1)", "gram_powers (up_log 3 (4 * N))"),
        ("ladder_images", "(- alpha, f a, f low)", "(alpha, f a, f low)"),
        ("ladder", "then (3 * reach K).+1", "then (3 * reach K).+2"),
        ("ladder", "(power_ladder N)) = up_log 3 (2 * N).+1", "(power_ladder N)) = up_log 3 N"),
        ("ladder", "powers (up_log 3 (2 * N).+1)", "powers (up_log 3 (2 * N).+1).-1"),
        ("hyperpower", "M0 = inverse (p ^ k).", "M0 = inverse (p ^ k.-1)."),
        ("attention_layers", "degree_le (3 * m) (attend", "degree_le (2 * m) (attend"),
        ("attention_layers", "size p = (3 ^ L).+1.", "size p = (3 ^ L)."),
        ("prediction_degree", "(step_degree from * N + 1).+1.", "(step_degree from * N).+1."),
        ("piecewise", "piecewise (D + D') (fun", "piecewise (D + D').-1 (fun"),
        ("piecewise_layers", "pieces (3 ^ size ls * m)", "pieces ((3 ^ size ls).-1 * m)"),
        (
            "attention_layers",
            "(add_heads (heads l) h) (mlps l)",
            "(add_heads (heads l) h) [::]",
        ),
        ("pointer_doubling", "logit i v + 2%:R <= r%:R.", "logit i v + 3%:R <= r%:R."),
        ("lower_bound", "3 ^ size (layers M))%N", "3 ^ size (layers M) - 1)%N"),
        ("polynomial_degree", "(2 * k + 1 <= 3 ^ size", "(2 * k + 2 <= 3 ^ size"),
        ("chebyshev", "8%:R * x * T x p.+1", "6%:R * x * T x p.+1"),
        ("chebyshev_ladder", "(up_log 3 (2 * k).+1) (k", "(up_log 3 (2 * k).+1).-1 (k"),
        ("induction_heads", "match_score 1 i", "match_score 2%:R i"),
        ("induction_heads", "(n + minn r 2) %/ minn r 2", "n %/ minn r 2"),
        ("pointer_doubling", "iota 0 last_layer.+1", "iota 0 last_layer"),
        ("compose_maps", "relu (4%:R * H%:R", "relu (3%:R * H%:R"),
        ("compose_maps", "relu (2%:R * H%:R", "relu (H%:R"),
        ("semiautomata", "iota 0 (up_log 2 T)]", "iota 0 (up_log 2 T).-1]"),
        ("communication", "#|A| <= 2 ^ (h * m.+1", "#|A| <= 2 ^ (h * m"),
        ("walks", "walks A w i j <= a ^+ steps w", "walks A w i j <= a ^+ (steps w).-1"),
        (
            "two_cliques",
            "n%:R^-1 *: map_mx (@relu F) (scores h W) * h.2 (u",
            "map_mx (@relu F) (scores h W) * h.2 (u",
        ),
        ("two_cliques", "(k <= 3 ^ L)%N -> (A ^+ k)", "(k < 3 ^ L)%N -> (A ^+ k)"),
    ],
)
def test_a_statement_that_is_changed_in_one_number_is_rejected(name, right, wrong, kept):
    texts = with_imports([name], sources())
    assert right in texts[name]
    texts[name] = texts[name].replace(right, wrong, 1)
    with pytest.raises(Rejected, match=f"{name}.v does not compile"):
        checked(texts, kept)


STATED = ("polynomial_degree", "ladder_gram", "newton_direct", "gradient_descent")
STATED += ("pointer_doubling", "semiautomata", "two_cliques")


def test_the_theorems_prove_what_is_stated_once_more(kept):
    """A hypothesis that is added to a theorem, and to its proof, is seen here."""
    checked(with_imports(STATED, sources()), kept)
    (kept / "statements.v").write_text(Path(__file__).with_name("statements.v").read_text())
    run = subprocess.run(["coqc", *OPTIONS, "statements.v"], cwd=kept, stderr=subprocess.PIPE)
    assert run.returncode == 0, run.stderr.decode()
