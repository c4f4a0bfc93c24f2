"""A backup file: whole or refused."""

import io
import tarfile
from pathlib import Path

import pytest

from ops.archive import FORMAT, Manifest, unpack, write_archive
from ops.errors import ArchiveError

MANIFEST = Manifest(FORMAT, "0001", "2026-11-30T12:00:00+00:00")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    dump, attachments = tmp_path / "dump", tmp_path / "attachments"
    dump.write_bytes(bytes(range(256)) * 400)
    (attachments / "ab").mkdir(parents=True)
    (attachments / "ab" / "picture").write_bytes(b"pixels")
    target = tmp_path / "backup"
    write_archive(target, manifest=MANIFEST, secret="s" * 40, dump=dump, attachments=attachments)
    return target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    empty = tmp_path / "unpacked"
    empty.mkdir()
    return empty


def test_what_was_written_is_read_and_only_the_owner_may(written: Path, folder: Path) -> None:
    assert written.stat().st_mode & 0o777 == 0o600
    unpacked = unpack(written, folder)
    assert (unpacked.manifest, unpacked.secret) == (MANIFEST, "s" * 40)
    assert unpacked.dump.read_bytes() == bytes(range(256)) * 400
    assert (unpacked.attachments / "ab" / "picture").read_bytes() == b"pixels"


@pytest.mark.parametrize("kept", [0, 1, 10, 200, 0.5, 0.99, -1])
def test_a_cut_file_is_refused(written: Path, folder: Path, kept: float) -> None:
    whole = written.read_bytes()
    written.write_bytes(whole[: int(kept * len(whole)) if 0 < kept < 1 else int(kept)])
    with pytest.raises(ArchiveError, match="backup"):
        unpack(written, folder)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_a_flipped_bit_is_noticed(written: Path, folder: Path, share: float) -> None:
    body = bytearray(written.read_bytes())
    body[int(share * len(body))] ^= 4
    written.write_bytes(body)
    with pytest.raises(ArchiveError):
        unpack(written, folder)


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, 4 if kind == tarfile.REGTYPE else 0
    return info


@pytest.mark.parametrize(
    "bad",
    [
        member("../outside"),
        member("/outside"),
        member("attachments/../../outside"),
        member("unknown"),
        member("attachments/link", tarfile.SYMTYPE, "/etc"),
        member("attachments/hard", tarfile.LNKTYPE, "app_secret"),
        member("attachments/device", tarfile.CHRTYPE),
    ],
    ids=lambda info: info.name,
)
def test_nothing_is_written_beside_the_folder(
    tmp_path: Path, folder: Path, bad: tarfile.TarInfo
) -> None:
    source = tmp_path / "bad"
    with tarfile.open(source, "w:gz") as archive:
        archive.addfile(bad, io.BytesIO(b"word"))
    with pytest.raises(ArchiveError):
        unpack(source, folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "unpacked"]


def test_a_missing_file_is_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ArchiveError, match="nowhere"):
        unpack(tmp_path / "nowhere", folder)
