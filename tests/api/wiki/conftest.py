import httpx2
import pytest

from tests.factories.pages import MakePage
from tests.factories.world import World


@pytest.fixture
def make_page(client: httpx2.AsyncClient, world: World) -> MakePage:
    return MakePage(client, world)
