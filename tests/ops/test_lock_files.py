"""The lock files: complete, with hashes, and without an address of any registry."""

import re
import tomllib

import pytest

from ops.processes import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]


def names(requirements: list[str]) -> set[str]:
    found = [re.match(r"[\w-]+", requirement) for requirement in requirements]
    return {match.group().lower() for match in found if match}


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        (
            "requirements.lock",
            PROJECT["project"]["dependencies"]
            + EXTRAS["embedded"]
            + EXTRAS["local-embeddings"]
            + PROJECT["build-system"]["requires"],
        ),
        ("requirements-dev.lock", EXTRAS["dev"]),
    ],
)
def test_a_lock_file_names_every_dependency_with_a_hash(file: str, wanted: list[str]) -> None:
    text = (ROOT / file).read_text()
    locked = re.findall(r"^([\w.-]+)==[^\n]*\\\n +--hash=sha256:", text, re.MULTILINE)
    assert names(wanted) <= {name.lower() for name in locked}


@pytest.mark.parametrize("file", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_file_holds_no_address_and_no_path(file: str) -> None:
    text = (ROOT / file).read_text()
    assert "://" not in text
    assert not re.search(r"^--|^/|file:", text, re.MULTILINE)
