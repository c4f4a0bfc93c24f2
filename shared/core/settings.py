"""Process settings, read once from the environment (names are part of the product)."""

import os
from functools import lru_cache
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.core.errors import ConfigurationError
from shared.core.tunables import MIN_SECRET_BYTES


def default_home() -> Path:
    """The data folder where none is named: `/var/lib/pageturn` as root, else `.pageturn`."""
    return Path("/var/lib/pageturn") if os.geteuid() == 0 else Path(".pageturn").resolve()


class Settings(BaseSettings):
    """Every field is an environment variable; the alias is its exact name."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    home: Path = Field(default_factory=default_home, alias="PAGETURN_HOME")
    host: str = Field("127.0.0.1", alias="PAGETURN_HOST")
    port: int = Field(8000, alias="PAGETURN_PORT", ge=1, le=65535)
    flower_port: int = Field(5555, alias="PAGETURN_FLOWER_PORT", ge=1, le=65535)
    flower_auth: SecretStr | None = Field(None, alias="PAGETURN_FLOWER_AUTH")

    database_url: SecretStr | None = Field(None, alias="DATABASE_URL")
    redis_url: SecretStr | None = Field(None, alias="REDIS_URL")
    app_secret: SecretStr | None = Field(None, alias="APP_SECRET")
    # Still read, never written with: those that were, or will be, APP_SECRET. By commas.
    app_secret_previous: SecretStr | None = Field(None, alias="APP_SECRET_PREVIOUS")

    owner_email: str | None = Field(None, alias="PAGETURN_OWNER_EMAIL")
    owner_password: SecretStr | None = Field(None, alias="PAGETURN_OWNER_PASSWORD")

    # Whether a model's base URL may lead to this machine or a private network.
    private_models: bool = Field(False, alias="PAGETURN_PRIVATE_MODELS")
    embedding_dir: Path | None = Field(None, alias="PAGETURN_EMBEDDING_DIR")
    log_level: str = Field("INFO", alias="PAGETURN_LOG_LEVEL")

    # Durations in seconds. The defaults are what runs; tests shorten them.
    lease_seconds: float = Field(9.0, alias="PAGETURN_LEASE_SECONDS", gt=0)
    heartbeat_seconds: float = Field(3.0, alias="PAGETURN_HEARTBEAT_SECONDS", gt=0)
    reaper_seconds: float = Field(2.0, alias="PAGETURN_REAPER_SECONDS", gt=0)
    requeue_seconds: float = Field(5.0, alias="PAGETURN_REQUEUE_SECONDS", gt=0)
    # The life of the token by which the agent acts; it is renewed while its person is signed in.
    agent_token_seconds: float = Field(60.0, alias="PAGETURN_AGENT_TOKEN_SECONDS", ge=2)
    ping_seconds: float = Field(10.0, alias="PAGETURN_PING_SECONDS", gt=0)
    stream_ttl_seconds: int = Field(3600, alias="PAGETURN_STREAM_TTL_SECONDS", gt=0)
    # The test of a provider: in the worker, and how long the API waits for it. Each ends
    # before what is around it, so that the reason is told; a request may take 20.
    test_seconds: float = Field(15.0, alias="PAGETURN_TEST_SECONDS", gt=0)
    test_wait_seconds: float = Field(17.0, alias="PAGETURN_TEST_WAIT_SECONDS", gt=0, le=19)
    # The offline answerer's pause between pieces of text, so that a person can read along.
    offline_piece_seconds: float = Field(0.03, alias="PAGETURN_OFFLINE_PIECE_SECONDS", ge=0)
    # How long a search waits for its query's vector; then it finds by words only, and says so.
    search_vector_seconds: float = Field(0.3, alias="PAGETURN_SEARCH_VECTOR_SECONDS", gt=0)
    # How long an API that was told to stop still serves, with a red /healthz, so that a balancer
    # in front notices and sends nobody more.
    drain_seconds: float = Field(0.0, alias="PAGETURN_DRAIN_SECONDS", ge=0)
    # How long a worker that was told to stop lets its turns go on before handing them over.
    grace_seconds: float = Field(5.0, alias="PAGETURN_GRACE_SECONDS", ge=0)
    # One batch of texts, tries and pauses together: a hung model must not hold a page for ever.
    embed_seconds: float = Field(120.0, alias="PAGETURN_EMBED_SECONDS", gt=0)
    # The pause before a provider is asked again for a batch; doubles each time.
    embed_retry_seconds: float = Field(1.0, alias="PAGETURN_EMBED_RETRY_SECONDS", ge=0)
    # A model's silence, before its first word or between two, after which it counts as hung.
    model_silence_seconds: float = Field(900.0, alias="PAGETURN_MODEL_SILENCE_SECONDS", gt=0)
    # The pause before a busy or unreachable provider is asked again; doubles each time.
    model_retry_seconds: float = Field(0.5, alias="PAGETURN_MODEL_RETRY_SECONDS", ge=0)
    # How long a stream may linger after the model's last word: for the count of tokens.
    model_tail_seconds: float = Field(5.0, alias="PAGETURN_MODEL_TAIL_SECONDS", gt=0)

    chat_concurrency: int = Field(200, alias="PAGETURN_CHAT_CONCURRENCY", ge=1)

    def require_database_url(self) -> str:
        """The SQLAlchemy URL (psycopg 3 driver). Raises ConfigurationError when unset."""
        if self.database_url is None:
            raise ConfigurationError("DATABASE_URL is not set: start Pageturn with `pageturn up`")
        url = self.database_url.get_secret_value()
        for prefix in ("postgresql+psycopg://", "postgresql://", "postgres://"):
            if url.startswith(prefix):
                return "postgresql+psycopg://" + url.removeprefix(prefix)
        raise ConfigurationError("DATABASE_URL must begin with postgresql://")

    def require_redis_url(self) -> str:
        """Raises ConfigurationError when unset."""
        if self.redis_url is None:
            raise ConfigurationError("REDIS_URL is not set: start Pageturn with `pageturn up`")
        return self.redis_url.get_secret_value()

    def require_app_secret(self) -> bytes:
        """At least 32 bytes. Raises ConfigurationError when unset or too short."""
        return self.require_app_secrets()[0]

    def require_app_secrets(self) -> tuple[bytes, ...]:
        """The current secret, then the previous ones. Raises ConfigurationError as above."""
        if self.app_secret is None:
            raise ConfigurationError("APP_SECRET is not set: start Pageturn with `pageturn up`")
        current = self.app_secret.get_secret_value()
        named = [("APP_SECRET", current)]
        if self.app_secret_previous is not None:
            listed = self.app_secret_previous.get_secret_value().split(",")
            kept = dict.fromkeys(text for part in listed if (text := part.strip()))
            named += [("APP_SECRET_PREVIOUS", text) for text in kept if text != current]
        for name, text in named:
            if len(text.encode()) < MIN_SECRET_BYTES:
                raise ConfigurationError(f"{name} must have at least {MIN_SECRET_BYTES} bytes")
        return tuple(text.encode() for _, text in named)


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The settings of this process."""
    return Settings()
