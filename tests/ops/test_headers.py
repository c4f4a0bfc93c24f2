"""Every file of the project is its own: none carries somebody else's copyright or licence."""

import re
import shutil
import subprocess

import pytest

from ops.processes import ROOT

# Joined from halves, so that this file does not find itself.
HEADERS = re.compile(
    "|".join(
        [
            r"copy" + r"right[ \t:]*(\(c\)|©|\d{4}|[a-z]+ [^\n]*\d{4})",
            r"\(c\) *\d{4}|©[^\n\"'<]*\d{4}",
            "spdx-licen" + "se-identifier",
            "@licen" + "se",
            "licen[sc]ed " + "under",
            "permission is " + "hereby granted",
            "all rights " + "reserved",
            "redistribution and use " + "in source",
            r"gnu (affero |lesser )?general " + "public licen[sc]e",
        ]
    ),
    re.IGNORECASE,
)


@pytest.mark.req("RG-17")
def test_no_file_carries_a_foreign_copyright_or_licence_header() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout: there is nothing that says which files are the project's")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    paths = [ROOT / name for name in names.split("\0") if name]
    texts = {path: path.read_bytes().decode(errors="replace") for path in paths if path.is_file()}
    assert len(texts) > 200
    found = {
        str(path): match.group() for path in paths if (match := HEADERS.search(texts.get(path, "")))
    }
    assert found == {}


@pytest.mark.parametrize(
    "header",
    [
        "# Copy" + "right 2019 A Person",
        "/* Copy" + "right (c) Some Company, Inc. */",
        "// Copy" + "right The Authors 2020-2024",
        "# SPDX-Licen" + "se-Identifier: MIT",
        "/*! @licen" + "se MIT */",
        "Licen" + "sed under the Apache License, Version 2.0",
        "it under the terms of the GNU Affero General " + "Public License",
        "(c" + ") 2021 Somebody",
    ],
)
def test_a_usual_header_is_recognised(header: str) -> None:
    assert HEADERS.search(header)
