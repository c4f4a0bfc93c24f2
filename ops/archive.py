"""The file that a backup is: a gzipped tar with a manifest, a dump, the secret, attachments."""

import gzip
import io
import json
import os
import shutil
import tarfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from ops.errors import ArchiveError, OpsError

FORMAT = 1
_READ_BYTES = 1 << 20
_MANIFEST, _SECRET, _DUMP, _ATTACHMENTS = "manifest.json", "app_secret", "database", "attachments"
_PREVIOUS = "app_secret_previous"
_TOP = {_MANIFEST, _SECRET, _PREVIOUS, _DUMP, _ATTACHMENTS}


@dataclass(frozen=True)
class Manifest:
    """What a backup says about itself. `revision` is the schema's, `created` ISO 8601."""

    format: int
    revision: str
    created: str


@dataclass(frozen=True)
class Unpacked:
    """A backup laid out in a folder; `attachments` may be missing. `previous` is None unless
    the secret was being changed."""

    manifest: Manifest
    secret: str
    previous: str | None
    dump: Path
    attachments: Path


def write_archive(
    target: Path,
    *,
    manifest: Manifest,
    secret: str,
    previous: str | None = None,
    dump: Path,
    attachments: Path,
) -> None:
    """Write the whole file or none, mode 0600. Raises OpsError."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                with tarfile.open(fileobj=file, mode="w:gz") as archive:
                    _add_text(archive, _MANIFEST, json.dumps(asdict(manifest)))
                    _add_text(archive, _SECRET, secret)
                    if previous is not None:
                        _add_text(archive, _PREVIOUS, previous)
                    archive.add(dump, _DUMP)
                    if attachments.is_dir():
                        archive.add(attachments, _ATTACHMENTS)
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise OpsError(f"{target} cannot be written: {error.strerror or error}") from error


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    body = text.encode()
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(body), 0o600
    archive.addfile(info, io.BytesIO(body))


def unpack(source: Path, folder: Path) -> Unpacked:
    """Lay a backup out in an empty folder. Raises ArchiveError."""
    try:
        with gzip.open(source) as stream:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    _extract(archive, member, folder)
            while stream.read(_READ_BYTES):  # to the checksum at the very end
                pass
        manifest = Manifest(**json.loads((folder / _MANIFEST).read_text()))
        secret = (folder / _SECRET).read_text()
        kept = folder / _PREVIOUS
        previous = kept.read_text() if kept.exists() else None
    except (tarfile.TarError, zlib.error, EOFError, ValueError, TypeError, KeyError) as error:
        raise ArchiveError(f"{source} is damaged or not a backup of Pageturn") from error
    except OSError as error:  # gzip's own errors among them
        raise ArchiveError(f"{source} cannot be restored: {error.strerror or error}") from error
    if manifest.format != FORMAT or not (folder / _DUMP).is_file():
        raise ArchiveError(f"{source} is a backup of another format")
    return Unpacked(manifest, secret, previous, folder / _DUMP, folder / _ATTACHMENTS)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Only plain files and folders, only below the names that we write."""
    parts = Path(member.name).parts
    if not parts or parts[0] not in _TOP or ".." in parts:
        raise ValueError(member.name)
    target = folder / member.name
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if member.isdir():
        target.mkdir(mode=0o700, exist_ok=True)
    elif member.isfile() and (body := archive.extractfile(member)) is not None:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            shutil.copyfileobj(body, file)
    else:
        raise ValueError(member.name)
