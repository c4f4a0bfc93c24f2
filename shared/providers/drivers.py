"""The drivers that a workspace can choose, and what each needs to work."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Driver:
    """`default_base_url` is the provider's own address; None: it must be given, or (for
    `offline` and `local`) there is none at all. A `model` is the only one there is."""

    name: str
    default_base_url: str | None = None
    needs_key: bool = False
    key_allowed: bool = False
    needs_base_url: bool = False
    base_url_allowed: bool = False
    model: str | None = None


CHAT_DRIVERS = {
    driver.name: driver
    for driver in (
        Driver("offline", model="offline"),
        Driver(
            "openai",
            "https://api.openai.com/v1",
            needs_key=True,
            key_allowed=True,
            base_url_allowed=True,
        ),
        Driver(
            "anthropic",
            "https://api.anthropic.com/v1",
            needs_key=True,
            key_allowed=True,
            base_url_allowed=True,
        ),
        Driver(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            needs_key=True,
            key_allowed=True,
            base_url_allowed=True,
        ),
        # Ollama's own address is on the machine of the workers, which may not be what is meant.
        Driver("ollama", needs_base_url=True, key_allowed=True, base_url_allowed=True),
        Driver("openai-compatible", needs_base_url=True, key_allowed=True, base_url_allowed=True),
    )
}
EMBEDDING_DRIVERS = {
    driver.name: driver
    for driver in (
        Driver("local", model="all-MiniLM-L6-v2"),
        Driver("openai-compatible", needs_base_url=True, key_allowed=True, base_url_allowed=True),
        Driver("ollama", needs_base_url=True, key_allowed=True, base_url_allowed=True),
    )
}
