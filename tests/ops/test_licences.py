"""A dependency whose licence is not on the list fails the check; so does one with none."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ops import licences, spdx
from ops.processes import ROOT

RULES: dict[str, Any] = {
    "runtime": ["MIT", "BSD-3-Clause", "Apache-2.0 WITH LLVM-exception"],
    "development": ["MPL-2.0"],
    "names": {"MIT License": "MIT", "New BSD": "BSD-3-Clause"},
    "exceptions": {"python": {}, "npm": {}},
}


def install(root: Path, name: str, *metadata: str, lock: str = "requirements.lock") -> None:
    """An installed distribution with just this metadata, and its line in a lock file."""
    folder = root / "site" / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    head = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n"
    (folder / "METADATA").write_text(head + "".join(f"{line}\n" for line in metadata))
    for each in ("requirements.lock", "requirements-dev.lock"):
        (root / each).touch()
    with (root / lock).open("a") as file:
        file.write(f"{name}==1.0 \\\n    --hash=sha256:00\n")


def python_problems(root: Path, **exceptions: dict[str, str]) -> list[str]:
    rules = RULES | {"exceptions": {"python": exceptions, "npm": {}}}
    packages = licences.python_packages(root, [str(root / "site")], RULES["names"])
    return list(licences.problems(packages, rules))


def npm_problems(root: Path, **packages: dict[str, Any]) -> list[str]:
    lock = root / "package-lock.json"
    entries = {f"node_modules/{name}": {"version": "1.0.0", **p} for name, p in packages.items()}
    lock.write_text(json.dumps({"packages": {"": {"name": "the-app"}, **entries}}))
    return list(licences.problems(licences.npm_packages(lock), RULES))


@pytest.mark.req("RG-17")
def test_every_dependency_of_this_project_is_on_the_list() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ops.licences"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("npm packages, all on the list\n")


@pytest.mark.parametrize(
    "metadata",
    [
        ["License-Expression: GPL-3.0-only"],
        ["License-Expression: MIT AND GPL-3.0-only"],
        ["License: GPL-3.0-only", "Classifier: License :: OSI Approved :: MIT License"],
        ["License: Proprietary"],
        ["Classifier: License :: OSI Approved :: Unheard Of"],
        [
            "Classifier: License :: OSI Approved :: MIT License",
            "Classifier: License :: Other/Proprietary License",
        ],
        [],
    ],
)
def test_a_python_package_with_another_licence_or_none_is_named(
    tmp_path: Path, metadata: list[str]
) -> None:
    install(tmp_path, "good", "License-Expression: MIT")
    install(tmp_path, "bad", *metadata)
    (problem,) = python_problems(tmp_path)
    assert problem.startswith("python bad: ")


@pytest.mark.parametrize(
    "metadata",
    [
        ["License-Expression: MIT OR GPL-3.0-only"],
        ["License-Expression: (mit)"],
        ["License: New BSD"],
        ["License: MIT License", "Classifier: License :: OSI Approved :: BSD License"],
        ["Classifier: License :: OSI Approved :: MIT License", "Classifier: Topic :: Text"],
        [
            "License: The MIT License",
            "        ",
            "        Permission is hereby given",
            "Classifier: License :: OSI Approved :: MIT License",
        ],
    ],
)
def test_a_listed_licence_is_read_wherever_the_metadata_has_it(
    tmp_path: Path, metadata: list[str]
) -> None:
    install(tmp_path, "good", *metadata)
    assert python_problems(tmp_path) == []


@pytest.mark.parametrize(
    ("expression", "permitted"),
    [
        ("MIT", True),
        ("GPL-2.0-only OR MIT AND BSD-3-Clause", True),
        ("MIT OR GPL-2.0-only AND GPL-3.0-only", True),
        ("(MIT OR GPL-2.0-only) AND GPL-3.0-only", False),
        ("MIT AND (GPL-2.0-only OR (BSD-3-Clause AND MIT))", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0", False),
        ("MIT WITH LLVM-exception", False),
    ],
)
def test_an_expression_is_permitted_if_one_of_its_ways_is(expression: str, permitted: bool) -> None:
    assert spdx.permits(expression, set(RULES["runtime"])) is permitted


def test_a_licence_for_development_is_none_for_what_runs(tmp_path: Path) -> None:
    install(tmp_path, "tool", "License-Expression: MPL-2.0", lock="requirements-dev.lock")
    assert python_problems(tmp_path) == []
    install(tmp_path, "library", "License-Expression: MPL-2.0")
    assert python_problems(tmp_path) == ["python library: MPL-2.0 is not on the runtime list"]


def test_an_exception_is_for_one_package_in_one_licence(tmp_path: Path) -> None:
    install(tmp_path, "lib", "License-Expression: LGPL-3.0-only")
    assert python_problems(tmp_path, lib={"licence": "LGPL-3.0-only", "reason": "…"}) == []
    (changed,) = python_problems(tmp_path, lib={"licence": "LGPL-2.1-only", "reason": "…"})
    assert changed == "python lib: LGPL-3.0-only, but the exception is for LGPL-2.1-only"


def test_an_exception_names_the_licence_that_metadata_leave_out(tmp_path: Path) -> None:
    install(tmp_path, "lib")
    assert python_problems(tmp_path) == ["python lib: no licence is not on the runtime list"]
    assert python_problems(tmp_path, lib={"licence": "MIT", "reason": "its file"}) == []


def test_an_exception_that_nothing_needs_is_named(tmp_path: Path) -> None:
    install(tmp_path, "lib", "License-Expression: MIT")
    reason = {"licence": "GPL-3.0-only", "reason": "…"}
    assert python_problems(tmp_path, lib=reason, gone=reason) == [
        "python gone: no package needs this exception",
        "python lib: no package needs this exception",
    ]


def test_a_package_that_is_locked_but_not_installed_is_named(tmp_path: Path) -> None:
    install(tmp_path, "lib", "License-Expression: MIT")
    (tmp_path / "requirements.lock").write_text("other==2.0 \\\n    --hash=sha256:00\n")
    with pytest.raises(licences.NotInstalledError, match="other"):
        python_problems(tmp_path)


def test_a_package_for_another_platform_is_left_to_it(tmp_path: Path) -> None:
    install(tmp_path, "lib", "License-Expression: MIT")
    (tmp_path / "requirements.lock").write_text("other==2.0 ; sys_platform == 'plan9' \\\n")
    assert licences.locked(tmp_path / "requirements.lock") == set()


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "UNLICENSED", "SEE LICENSE IN EULA", ""])
def test_an_npm_package_with_another_licence_or_none_is_named(tmp_path: Path, licence: str) -> None:
    (problem,) = npm_problems(
        tmp_path, good={"license": "(GPL-2.0 OR MIT)"}, bad={"license": licence}
    )
    assert problem.startswith("npm bad: ")


def test_an_npm_package_that_only_builds_may_have_a_development_licence(tmp_path: Path) -> None:
    assert npm_problems(tmp_path, tool={"license": "MPL-2.0", "dev": True}) == []
    assert npm_problems(tmp_path, lib={"license": "MPL-2.0"}) == [
        "npm lib: MPL-2.0 is not on the runtime list"
    ]


def test_every_exception_has_a_reason() -> None:
    rules = tomllib.loads((ROOT / "ops" / "licences.toml").read_text())
    for registry in ("python", "npm"):
        for name, exception in rules["exceptions"][registry].items():
            assert len(exception["reason"]) > 20, name
            assert spdx.canonical(exception["licence"]) == exception["licence"], name
