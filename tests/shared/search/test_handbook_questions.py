"""Ten questions over a real handbook find the pages that were named beforehand."""

import os
from pathlib import Path

import pytest

from ops.importing.importer import Importer
from ops.importing.source import read_folder
from shared.accounts.models import Space
from shared.core.db import Database
from shared.core.settings import get_settings
from shared.search.service import search
from shared.search.vectors import QueryVector
from tests.factories.world import World
from tests.shared.search.handbook_questions import QUESTIONS
from workers.indexing.indexer import index_page
from workers.llm.local_embeddings import local_embedder

CORPORA = os.environ.get("PAGETURN_CORPORA")


@pytest.mark.slow
@pytest.mark.req("RA-06")
@pytest.mark.skipif(CORPORA is None, reason="PAGETURN_CORPORA names no folder of corpora")
async def test_nine_of_ten_questions_have_their_page_among_the_first_three(
    database: Database, world: World
) -> None:
    embedder = local_embedder(get_settings())
    source = read_folder(Path(str(CORPORA)) / "handbook")
    async with database.session() as session:
        space = await session.get_one(Space, world.space("WIKI"))
    importer = Importer(database, world.actor("owner"), space, lambda: None)
    report = await importer.run(source)
    assert (report.files, report.problems) == (246, [])
    for page_id in importer.page_ids():
        assert (await index_page(database, embedder, page_id)).status == "indexed"

    ranks: list[int | None] = []
    for question in QUESTIONS:
        async with database.session() as session:
            found = await search(
                session,
                world.actor("reader"),
                question.text,
                vector=QueryVector(embedder.name, (await embedder.embed([question.text]))[0]),
            )
        ranks.append(
            next((n for n, hit in enumerate(found.hits, 1) if hit.title in question.pages), None)
        )
    assert sum(rank is not None and rank <= 3 for rank in ranks) >= 9, ranks
    assert sum(1 / rank for rank in ranks if rank) / len(ranks) >= 0.85, ranks
