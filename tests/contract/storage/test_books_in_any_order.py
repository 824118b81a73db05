"""The books on PostgreSQL: the same machine as on SQLite."""

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.harness.postgres_server import PostgresServer
from tests.property.storage.test_books import Books


def test_whatever_happens_the_books_come_to_the_sum_of_their_postings(
    postgres: PostgresServer, migrated: str
) -> None:
    made: list[str] = []

    class BooksOnServer(Books):
        def __init__(self) -> None:
            made.append(postgres.fresh(template=migrated))
            super().__init__(postgres.socket_url(made[-1]))

    few = settings(max_examples=8, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(BooksOnServer, settings=few)
    for name in made:
        postgres.drop(name)
