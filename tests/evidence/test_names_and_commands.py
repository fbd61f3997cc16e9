"""Claims: the command that runs one again, and its name."""

from typing import Annotated, Literal

from verify.claim import Run, claim, option
from verify.finding import same
from verify.ledger import plugins
from verify.ledger.claims import installed


@claim()
def twice_even(
    run: Run,
    *,
    k: Annotated[int, option("steps", min=1)] = 3,
    domain: Annotated[Literal["all", "exact"], option("number system")] = "all",
    samples: Annotated[int, option("prompts", only={"domain": ["all"]})] = 9,
    plain: Annotated[bool, option("plain")] = False,
):
    """Twice k is even."""
    yield same("parity", run.command(k=0, domain="exact", other=7), 2 * k % 2, 0)


def test_the_command_runs_the_claim_again_with_options_changed():
    """The least that an option takes; without what is a default or has no part beside the rest."""
    (found,) = twice_even.findings(Run(seed=3), samples=5, plain=True)
    assert found.name == "python -m verify twice-even --plain --k 1 --domain exact --seed 3"
    assert Run().command(k=1) == "the same call"


def test_a_claim_its_function_and_its_file_have_one_name():
    for name, point in installed().items():
        if plugins.is_ours(point):
            assert point.load().name == name
            assert point.module.rpartition(".")[2] == name.replace("-", "_")
