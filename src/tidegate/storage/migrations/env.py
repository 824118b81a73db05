"""Runs the migrations on the connection that the caller put into the configuration."""

from alembic import context

from tidegate.storage.schema import metadata

# One transaction that the caller began and locked; both databases can undo the making of tables too.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
