"""Which driver and model a change of the settings comes to. Pure rules, nothing is stored."""

from typing import Any

from shared.providers.connections import Purpose, drivers
from shared.providers.drivers import Driver
from shared.providers.errors import OnlyModelError, UnknownDriverError, at_field
from shared.providers.models import AiSettings


def choose_chat(settings: AiSettings, wanted: dict[str, Any]) -> Driver:
    """The driver after the change; `wanted`, values by column, is completed with what follows
    from it. Raises UnknownDriverError, OnlyModelError."""
    driver = find_driver("chat", wanted.get("driver", settings.driver))
    wanted["chat_model"] = model_of("chat", driver, wanted.get("chat_model"), settings.chat_model)
    with at_field("smallModel"):
        if driver.model is not None and wanted.get("small_model") not in (None, driver.model):
            raise OnlyModelError
    if driver.name != settings.driver:
        wanted.setdefault("small_model", None)  # the other driver's models are not this one's
    return driver


def choose_embeddings(settings: AiSettings, wanted: dict[str, Any]) -> Driver:
    """The same for embeddings."""
    driver = find_driver("embeddings", wanted.get("embedding_driver", settings.embedding_driver))
    wanted["embedding_model"] = model_of(
        "embeddings", driver, wanted.get("embedding_model"), settings.embedding_model
    )
    return driver


def find_driver(purpose: Purpose, name: str) -> Driver:
    """Raises UnknownDriverError."""
    driver = drivers(purpose).get(name)
    if driver is None:
        with at_field("driver" if purpose == "chat" else "embeddingDriver"):
            raise UnknownDriverError
    return driver


def model_of(purpose: Purpose, driver: Driver, given: str | None, now: str) -> str:
    """The model that a driver is used with; "" when one has to be named first. Raises
    OnlyModelError."""
    if driver.model is not None:
        with at_field("chatModel" if purpose == "chat" else "embeddingModel"):
            if given not in (None, "", driver.model):
                raise OnlyModelError
        return driver.model
    if given is not None:
        return given
    return "" if now in {other.model for other in drivers(purpose).values()} else now
