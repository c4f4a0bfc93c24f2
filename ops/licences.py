"""Is the licence of every dependency on the list in licences.toml?

Part of `make check`. It reads the lock files, the metadata of what is installed beside this
Python and the web app's lock file. A package that the lock file keeps for another platform is
checked there.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, distributions
from pathlib import Path
from typing import Any, Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ops.spdx import canonical, permits

ROOT = Path(__file__).resolve().parent.parent
CLASSIFIER = "License :: "

Registry = Literal["python", "npm"]


class NotInstalledError(Exception):
    """A package of the lock files is not installed."""


@dataclass(frozen=True)
class Package:
    """A dependency and its licence: an SPDX expression, or None where it names none that is
    known; `said` is what its metadata says."""

    registry: Registry
    name: str
    runtime: bool
    licence: str | None
    said: str

    def __str__(self) -> str:
        return f"{self.registry} {self.name}"


def main() -> None:
    """One line that all is well, or a line for each package that is not."""
    rules = tomllib.loads((ROOT / "ops" / "licences.toml").read_text())
    packages = [
        *python_packages(ROOT, sys.path, rules["names"]),
        *npm_packages(ROOT / "web" / "package-lock.json"),
    ]
    if wrong := list(problems(packages, rules)):
        sys.exit("\n".join(wrong))
    python = sum(package.registry == "python" for package in packages)
    sys.stdout.write(
        f"{python} Python and {len(packages) - python} npm packages, all on the list\n"
    )


def problems(packages: Iterable[Package], rules: dict[str, Any]) -> Iterator[str]:
    """A line for each package whose licence is not on the list, and each idle exception."""
    idle = {
        (registry, name) for registry in ("python", "npm") for name in rules["exceptions"][registry]
    }
    for package in packages:
        listed = {*rules["runtime"], *([] if package.runtime else rules["development"])}
        if package.licence is not None and permits(package.licence, listed):
            continue
        exception = rules["exceptions"][package.registry].get(package.name)
        if exception is None:
            kind = "runtime" if package.runtime else "development"
            yield f"{package}: {package.said or 'no licence'} is not on the {kind} list"
        elif package.licence not in (None, canonical(exception["licence"])):
            yield f"{package}: {package.said}, but the exception is for {exception['licence']}"
        idle.discard((package.registry, package.name))
    for registry, name in sorted(idle):
        yield f"{registry} {name}: no package needs this exception"


def python_packages(root: Path, path: list[str], names: dict[str, str]) -> Iterator[Package]:
    """What the lock files name for this machine, as it is installed on the path. Raises
    NotInstalledError."""
    found = distributions(path=path)
    installed: dict[str, PackageMetadata] = {canonicalize_name(d.name): d.metadata for d in found}
    runtime = locked(root / "requirements.lock")
    for name in sorted(runtime | locked(root / "requirements-dev.lock")):
        if name not in installed:
            raise NotInstalledError(f"{name} is in the lock files, but not installed")
        licence, said = stated(installed[name], names)
        yield Package("python", name, name in runtime, licence, said)


def locked(lock: Path) -> set[str]:
    """Names of the packages that a lock file has for this machine."""
    lines = re.findall(r"^[^\s#-].*?(?=\s*\\?$)", lock.read_text(), re.MULTILINE)
    wanted = [Requirement(line) for line in lines]
    return {canonicalize_name(w.name) for w in wanted if w.marker is None or w.marker.evaluate()}


def stated(metadata: PackageMetadata, names: dict[str, str]) -> tuple[str | None, str]:
    """The licence as an SPDX expression, and in the metadata's own words. The License field may
    hold a whole text; classifiers count where it names nothing, and all of them then hold."""
    if expressions := metadata.get_all("License-Expression", []):
        return canonical(expressions[0]), expressions[0]
    field = "".join(metadata.get_all("License", [])).strip()
    classifiers = metadata.get_all("Classifier", [])
    classified = [c.split(" :: ")[-1] for c in classifiers if c.startswith(CLASSIFIER)]
    said = classified if not field or "\n" in field else [field]
    known = [names.get(each, each) for each in said]
    expression = known[0] if len(known) == 1 else " AND ".join(f"({each})" for each in known)
    return canonical(expression), ", ".join(said)


def npm_packages(lock: Path) -> Iterator[Package]:
    """What the web app's lock file names, for every platform; npm copies each licence there."""
    found = {}
    for place, entry in json.loads(lock.read_text())["packages"].items():
        if place:
            name = place.rpartition("node_modules/")[2]
            said = str(entry.get("license", ""))
            runtime = not entry.get("dev", False)
            package = Package("npm", name, runtime, canonical(said), said)
            found[name, entry["version"], runtime] = package
    yield from found.values()


if __name__ == "__main__":
    try:
        main()
    except NotInstalledError as error:
        sys.exit(f"pageturn: {error}")
