"""All tables, imported for their side effect on the metadata."""

from shared.accounts import models as accounts
from shared.chat import models as chat
from shared.core.db import Base
from shared.providers import models as providers
from shared.search import models as search
from shared.wiki import models as wiki

metadata = Base.metadata

__all__ = ["accounts", "chat", "metadata", "providers", "search", "wiki"]
