"""What migrations make of data that is there, and that they end where the models are."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, text

from shared.core.ids import new_id
from shared.models import metadata
from tests.factories.databases import empty_database, migrate_to

# Expression and partial indexes that the models do not name: SQL made them.
_BY_SQL = {"ix_page_embeddings_hnsw_384"}


@pytest.fixture
def empty(database: object) -> Iterator[Connection]:
    """A connection to a database without tables; committed by the test."""
    with empty_database() as url:
        engine = create_engine(url)
        try:
            with engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()


class Chat:
    """A chat as the first version stored it, each send in a transaction of its own."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.workspace, self.user, self.session, self.id = (new_id() for _ in range(4))
        ids = {"w": self.workspace, "u": self.user, "s": self.session, "c": self.id}
        for statement in (
            "INSERT INTO workspaces (id, name) VALUES (:w, 'Acme')",
            "INSERT INTO users (id, workspace_id, email, name, role)"
            " VALUES (:u, :w, 'a@example.org', 'Ada', 'owner')",
            "INSERT INTO user_sessions (id, user_id, user_agent, expires_at)"
            " VALUES (:s, :u, '', now() + interval '1 day')",
            "INSERT INTO ai_chats (id, workspace_id, creator_id, context, title)"
            " VALUES (:c, :w, :u, 'tenant', 'T')",
        ):
            connection.execute(text(statement), ids)
        connection.commit()

    def send(self, question: str | None, answer: str, *, hides: Any = None) -> tuple[Any, Any]:
        """Question and answer; `hides`: all from this message on are replaced by them."""
        if hides is not None:
            self.connection.execute(
                text(
                    "UPDATE ai_chat_messages SET replaced_at = now()"
                    " WHERE chat_id = :c AND id >= :first AND replaced_at IS NULL"
                ),
                {"c": self.id, "first": hides},
            )
        asked = self._add("user", question) if question else self._last_question(hides)
        answered = self._add("assistant", answer)
        self.connection.execute(
            text(
                "INSERT INTO turns (id, workspace_id, chat_id, user_id, session_id,"
                " user_message_id, assistant_message_id, context, send_key, driver, model,"
                " max_steps, status, epoch, attempts, enqueue_count, truncated)"
                " VALUES (:id, :w, :c, :u, :s, :q, :a, 'tenant', :key, 'offline', 'offline',"
                " 8, 'completed', 1, 1, 1, false)"
            ),
            {
                "id": new_id(),
                "w": self.workspace,
                "c": self.id,
                "u": self.user,
                "s": self.session,
                "q": asked,
                "a": answered,
                "key": uuid4().hex,
            },
        )
        self.connection.commit()
        return asked, answered

    def _add(self, role: str, content: str) -> Any:
        message = new_id()
        self.connection.execute(
            text(
                "INSERT INTO ai_chat_messages (id, chat_id, workspace_id, role, content, parts,"
                " tool_calls, metadata, status)"
                " VALUES (:id, :c, :w, :role, :content, '[]', '[]', '{}', 'complete')"
            ),
            {
                "id": message,
                "c": self.id,
                "w": self.workspace,
                "role": role,
                "content": content,
            },
        )
        return message

    def _last_question(self, before: Any) -> Any:
        return self.connection.execute(
            text(
                "SELECT id FROM ai_chat_messages WHERE chat_id = :c AND role = 'user'"
                " AND id < :before ORDER BY id DESC LIMIT 1"
            ),
            {"c": self.id, "before": before},
        ).scalar_one()


def test_replaced_messages_become_branches_and_the_standing_ones_are_shown(
    empty: Connection,
) -> None:
    migrate_to(empty, "0001")
    chat = Chat(empty)
    first, first_answer = chat.send("A?", "a")
    second, second_answer = chat.send("B?", "b")
    _, again = chat.send(None, "b2", hides=second_answer)  # another answer to B
    edited, edited_answer = chat.send("B in other words?", "b3", hides=second)
    last, last_answer = chat.send("C?", "c")
    migrate_to(empty, "head")
    parents = dict(
        tuple(row) for row in empty.execute(text("SELECT id, parent_id FROM ai_chat_messages"))
    )
    assert parents == {
        first: None,
        first_answer: first,
        second: first_answer,
        second_answer: second,
        again: second,
        edited: first_answer,
        edited_answer: edited,
        last: edited_answer,
        last_answer: last,
    }
    head = empty.execute(text("SELECT head_id FROM ai_chats")).scalar_one()
    assert head == last_answer


def test_the_migrations_end_where_the_models_are(empty: Connection) -> None:
    migrate_to(empty, "head")
    context = MigrationContext.configure(empty, opts={"compare_type": True})
    differences = [
        difference
        for difference in compare_metadata(context, metadata)
        if getattr(difference[1], "name", None) not in _BY_SQL
    ]
    assert differences == []
