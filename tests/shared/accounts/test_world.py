from sqlalchemy import func, select

from shared.accounts.models import User, UserSession
from shared.accounts.permissions import space_role
from shared.accounts.tokens import decode_token, token_key
from shared.core.db import Database
from shared.core.settings import get_settings
from tests.factories.world import World


async def test_the_world_has_the_people_and_roles_that_checks_speak_of(
    database: Database, world: World
) -> None:
    key = token_key(get_settings().require_app_secret())
    async with database.session() as session:
        assert await session.scalar(select(func.count()).select_from(User)) == 6
        assert await session.scalar(select(func.count()).select_from(UserSession)) == 6
        roles = {
            (name, space): await space_role(session, world.actor(name), world.space(space))
            for name in world.users
            for space in world.spaces
        }
    assert {where: role for where, role in roles.items() if role is not None} == {
        ("owner", "WIKI"): "admin",
        ("owner", "READ"): "admin",
        ("owner", "PRIV"): "admin",
        ("writer", "WIKI"): "writer",
        ("writer", "READ"): "reader",
        ("reader", "WIKI"): "reader",
        ("other", "OTHER"): "admin",
    }
    for name, token in world.tokens.items():
        assert decode_token([key], token).session_id == world.sessions[name]
