"""Search finds by words and by meaning, and only what the searcher may read."""

from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.accounts.models import SpaceRole
from shared.accounts.spaces import remove_member, set_member
from shared.core.db import Database
from shared.core.errors import NotFoundError
from shared.core.tunables import SNIPPET_CHARS
from shared.search.service import SearchResult, search
from shared.search.vectors import QueryVector
from shared.wiki.models import Page
from tests.factories.saved_pages import make_page, put_in_trash, save_page
from tests.factories.world import World
from tests.fakes.embedder import FakeEmbedder
from workers.indexing.indexer import index_page

FILLER = "Nothing of interest stands in this sentence. " * 60


async def find(
    database: Database,
    world: World,
    query: str,
    *,
    who: str = "owner",
    space: str | None = None,
    embedder: FakeEmbedder | None = None,
    limit: int = 10,
) -> SearchResult:
    async with database.session() as session:
        return await search(
            session,
            world.actor(who),
            query,
            limit=limit,
            space_id=None if space is None else world.space(space),
            vector=None if embedder is None else QueryVector(embedder.name, embedder.vector(query)),
        )


async def titles(database: Database, world: World, query: str, **options: object) -> list[str]:
    result = await find(database, world, query, **options)  # type: ignore[arg-type]
    return [hit.title for hit in result.hits]


async def indexed(
    database: Database,
    world: World,
    title: str,
    markdown: str,
    embedder: FakeEmbedder,
    *,
    space: str = "WIKI",
) -> Page:
    page = await make_page(database, world, title, markdown, space=space)
    assert (await index_page(database, embedder, page.id)).status == "indexed"
    return page


@pytest.mark.req("TR-01")
async def test_a_saved_page_is_found_by_its_words_at_once_without_any_index(
    database: Database, world: World
) -> None:
    page = await make_page(database, world, "Leave types", "Ask for *annual leave* in HR Links.")
    result = await find(database, world, "annual leave")
    assert result.mode == "text"
    hit = result.hits[0]
    assert (hit.page_id, hit.title, hit.space_id) == (page.id, "Leave types", world.space("WIKI"))
    assert "annual leave" in hit.snippet
    assert hit.url == f"/s/wiki/p/leave-types-{page.slug_id}"


@pytest.mark.req("TR-01", "WK-24")
async def test_pages_in_spaces_without_a_role_are_not_found(
    database: Database, world: World
) -> None:
    embedder = FakeEmbedder()
    await indexed(database, world, "Open", "The zebra walks.", embedder)
    await indexed(database, world, "Hidden", "The zebra hides.", embedder, space="PRIV")
    for chosen in (None, embedder):
        assert set(await titles(database, world, "zebra", embedder=chosen)) == {"Open", "Hidden"}
        assert await titles(database, world, "zebra", who="reader", embedder=chosen) == ["Open"]
        for nobody in ("outsider", "admin", "other"):
            assert await titles(database, world, "zebra", who=nobody, embedder=chosen) == []


@pytest.mark.req("WK-24")
async def test_a_changed_membership_counts_at_the_next_search(
    database: Database, world: World
) -> None:
    embedder = FakeEmbedder()
    await indexed(database, world, "Hidden", "The zebra hides.", embedder, space="PRIV")
    owner, reader, space = world.actor("owner"), world.users["reader"], world.space("PRIV")
    async with database.session() as session:
        await set_member(session, owner, space, reader, SpaceRole.READER)
    assert await titles(database, world, "zebra", who="reader", embedder=embedder) == ["Hidden"]
    async with database.session() as session:
        await remove_member(session, owner, space, reader)
    assert await titles(database, world, "zebra", who="reader", embedder=embedder) == []


@pytest.mark.req("RA-06", "RA-07")
async def test_while_the_model_changes_pages_that_wait_are_found_by_words_with_their_passage(
    database: Database, world: World
) -> None:
    text = f"# Rules\n\n{FILLER}\n\n## Absence\n\n{'Leave: the portal. ' * 40}\n\n# End\n\n{FILLER}"
    former, current = FakeEmbedder("former", 64), FakeEmbedder("current", 32)
    for title in ("Done", "Waiting"):
        await indexed(database, world, title, text, former)
    assert await titles(database, world, "vacation", embedder=former) != []
    done = (await find(database, world, "leave portal")).hits
    await index_page(database, current, next(hit.page_id for hit in done if hit.title == "Done"))
    # By meaning: only the page that the new model has read. By words: both, each at its block.
    assert await titles(database, world, "vacation", embedder=current) == ["Done"]
    hits = (await find(database, world, "leave portal", embedder=current)).hits
    assert {hit.title for hit in hits} == {"Done", "Waiting"}
    for hit in hits:
        assert "Leave: the portal." in hit.snippet
        assert hit.block_id is not None
        assert hit.heading_path == ("Rules", "Absence")


@pytest.mark.req("RA-03")
async def test_a_trashed_page_vanishes_before_the_index_knows(
    database: Database, world: World
) -> None:
    embedder = FakeEmbedder()
    page = await indexed(database, world, "Zebra", "The zebra walks.", embedder)
    await put_in_trash(database, world, page.id)
    assert await titles(database, world, "zebra", embedder=embedder) == []


async def test_a_search_in_one_space_stays_there(database: Database, world: World) -> None:
    await make_page(database, world, "Here", "The zebra walks.")
    await make_page(database, world, "There", "The zebra walks.", space="READ")
    assert await titles(database, world, "zebra", space="READ") == ["There"]
    with pytest.raises(NotFoundError):
        await find(database, world, "zebra", who="reader", space="PRIV")


@pytest.mark.req("RA-06")
async def test_a_synonym_is_found_by_its_meaning_and_a_rare_word_by_its_letters(
    database: Database, world: World
) -> None:
    embedder = FakeEmbedder()
    await indexed(database, world, "Absence", "How to take leave.", embedder)
    await indexed(database, world, "Form", "Fill in the form QX-77.", embedder)
    by_meaning = await find(database, world, "vacation", embedder=embedder)
    assert by_meaning.mode == "hybrid"
    assert [hit.title for hit in by_meaning.hits] == ["Absence"]
    assert await titles(database, world, "vacation") == []
    assert (await titles(database, world, "QX-77", embedder=embedder))[0] == "Form"


@pytest.mark.req("RA-02", "RA-06")
async def test_rows_of_another_model_or_dimension_are_not_compared(
    database: Database, world: World
) -> None:
    await indexed(database, world, "Absence", "How to take leave.", FakeEmbedder("former", 64))
    for embedder in (FakeEmbedder("current", 384), FakeEmbedder("former", 384)):
        assert await titles(database, world, "vacation", embedder=embedder) == []
        assert await titles(database, world, "leave", embedder=embedder) == ["Absence"]
    former = FakeEmbedder("former", 64)
    assert await titles(database, world, "vacation", embedder=former) == ["Absence"]


async def test_the_hit_is_the_passage_that_answers_with_its_block(
    database: Database, world: World
) -> None:
    embedder = FakeEmbedder()
    text = f"# Rules\n\n{FILLER}\n\n## Badges\n\nLost badges are reported to the desk.\n\n{FILLER}"
    page = await indexed(database, world, "Manual", text, embedder)
    for chosen in (None, embedder):
        hit = (await find(database, world, "report a lost badge", embedder=chosen)).hits[0]
        assert "Lost badges are reported" in hit.snippet
        assert len(hit.snippet) <= SNIPPET_CHARS
        assert hit.block_id is not None
        assert hit.url == f"/s/wiki/p/manual-{page.slug_id}#{hit.block_id}"


@pytest.mark.req("RA-03")
async def test_no_passage_of_an_older_version_is_shown(database: Database, world: World) -> None:
    embedder = FakeEmbedder()
    page = await indexed(database, world, "Plan", "The zebra meets at noon.", embedder)
    await save_page(database, world, page.id, markdown="The zebra meets at midnight.")
    hit = (await find(database, world, "zebra meets", embedder=embedder)).hits[0]
    assert "midnight" in hit.snippet
    assert hit.block_id is None
    assert await titles(database, world, "noon") == []


@pytest.mark.req("WK-24")
async def test_a_title_counts_more_than_a_text_and_accents_do_not_count(
    database: Database, world: World
) -> None:
    await make_page(database, world, "Something else", "Über is said here. " + FILLER)
    await make_page(database, world, "Über alles", FILLER)
    assert await titles(database, world, "uber") == ["Über alles", "Something else"]


@pytest.mark.req("WK-24")
async def test_the_last_word_may_be_half_typed(database: Database, world: World) -> None:
    await make_page(database, world, "Absence", "All about vacations.")
    assert await titles(database, world, "about vacat") == ["Absence"]


async def test_a_question_finds_pages_that_hold_only_some_of_its_words(
    database: Database, world: World
) -> None:
    await make_page(database, world, "Leave types", "Leave is requested in the portal. " + FILLER)
    await make_page(database, world, "Weather", FILLER)
    assert await titles(database, world, "How do I request leave, please?") == ["Leave types"]


async def test_a_phrase_must_be_there_and_an_excluded_word_must_not(
    database: Database, world: World
) -> None:
    embedder = FakeEmbedder()
    await indexed(database, world, "Cards", "The travel card is blue.", embedder)
    await indexed(database, world, "Hotels", "The travel card pays the hotel.", embedder)
    await indexed(database, world, "Loose", "A card for travel.", embedder)
    for chosen in (None, embedder):
        assert await titles(database, world, '"travel card" -hotel', embedder=chosen) == ["Cards"]


@pytest.mark.req("WK-24")
async def test_russian_forms_and_chinese_parts_of_a_sentence_are_found(
    database: Database, world: World
) -> None:
    await make_page(database, world, "Отпуска", "Заявления на отпуск подаются заранее.")
    await make_page(database, world, "休假制度", "员工可以在系统中申请休假。")
    assert await titles(database, world, "заявление") == ["Отпуска"]
    assert await titles(database, world, "申请休假") == ["休假制度"]
    assert await titles(database, world, "如何申请休假") == ["休假制度"]
    assert await titles(database, world, "会议室") == []


@pytest.mark.parametrize("query", ["", "  ", "?!", "👍", "-zebra", "\0"])
async def test_a_query_without_words_finds_nothing(
    database: Database, world: World, query: str
) -> None:
    await make_page(database, world, "Zebra", "The zebra walks.")
    assert (await find(database, world, query)).hits == []


async def test_stop_words_alone_still_find_something(database: Database, world: World) -> None:
    await make_page(database, world, "The Who", "A band.")
    assert await titles(database, world, "the who") == ["The Who"]


@pytest.mark.req("WK-24")
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(alphabet=st.sampled_from("ab1 '\"\\:*&|!()<->%_?;\0\ud800é水д@./-"), max_size=40))
async def test_no_sign_in_a_query_is_an_error(database: Database, world: World, query: str) -> None:
    assert isinstance(await find(database, world, query), SearchResult)


async def test_the_limit_is_kept(database: Database, world: World) -> None:
    for number in range(5):
        await make_page(database, world, f"Zebra {number}", "The zebra walks.")
    ids: list[UUID] = [hit.page_id for hit in (await find(database, world, "zebra", limit=3)).hits]
    assert len(set(ids)) == 3
