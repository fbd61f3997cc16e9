"""docs/trained.md opens with every replication and its outcome."""

from outcomes import PAGE, ROW, outcomes, written


def test_the_table_has_every_replication_with_the_outcome_of_the_index():
    page = PAGE.read_text(encoding="utf-8")
    assert [found["name"] for found in ROW.finditer(page)] == list(outcomes())
    assert written(page) == page


def test_a_changed_outcome_is_noticed():
    page = PAGE.read_text(encoding="utf-8")
    assert written(page.replace("**replicated**", "**not replicated**", 1)) == page
