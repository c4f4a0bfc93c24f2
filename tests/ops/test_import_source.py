"""Reading a folder of Markdown files as a tree of pages with links."""

from pathlib import Path, PurePosixPath

import pytest

from ops.importing import source as source_module
from ops.importing.links import Addresses
from ops.importing.liquid import without_liquid
from ops.importing.source import Source, SourcePage, read_folder


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def titles(source: Source) -> dict[str, str]:
    return {str(page.key): page.title for page in source.pages}


def test_titles_come_from_front_matter_else_the_first_heading_else_the_name(tmp_path: Path) -> None:
    source = read_folder(
        write(
            tmp_path,
            {
                "a.md": "---\ntitle: From matter\n---\n# Heading\n\nText.",
                "b.md": "# From heading\n\nText.",
                "out-of_office.md": "Text.",
                "d.md": "---\ntitle:\n  Two\n  lines\n---\n",
            },
        )
    )
    assert titles(source) == {
        "a": "From matter",
        "b": "From heading",
        "out-of_office": "Out of office",
        "d": "Two lines",
    }


def test_a_folder_is_its_index_else_the_file_of_its_name_else_an_empty_page(
    tmp_path: Path,
) -> None:
    source = read_folder(
        write(
            tmp_path,
            {
                "one/index.md": "# One",
                "one/child.md": "Text.",
                "two.md": "# Two",
                "two/child.md": "Text.",
                "third-folder/deep/child.md": "Text.",
                "empty/picture.png": b"\x89PNG",
                ".hidden/secret.md": "Text.",
            },
        )
    )
    assert titles(source) == {
        "one": "One",
        "one/child": "Child",
        "two": "Two",
        "two/child": "Child",
        "third-folder": "Third folder",
        "third-folder/deep": "Deep",
        "third-folder/deep/child": "Child",
    }
    keys = [page.key for page in source.pages]
    for key in keys:  # parents before children
        assert all(parent not in keys[keys.index(key) :] for parent in key.parents)


def test_files_that_cannot_be_read_are_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "MAX_IMPORT_FILE_BYTES", 1024 * 1024)
    (tmp_path / "folder.md").mkdir()
    source = read_folder(
        write(
            tmp_path,
            {
                "binary.md": b"\x89PNG\0\0",
                "latin.md": "caf\xe9".encode("latin-1"),
                "large.md": b"a" * (1024 * 1024 + 1),
                "empty.md": "",
                "good.md": "Text.",
            },
        )
    )
    assert {str(p.path): p.reason for p in source.problems} == {
        "binary.md": "not a text file",
        "latin.md": "not UTF-8 text",
        "large.md": "larger than 1 MB",
    }
    assert titles(source) == {"empty": "Empty", "good": "Good"}


def test_a_file_with_only_a_redirect_keeps_its_target(tmp_path: Path) -> None:
    source = read_folder(write(tmp_path, {"old.md": "---\nredirect_to: /new/\n---\n"}))
    assert source.pages[0].redirect == "/new/"


def test_liquid_links_become_markdown_links_outside_of_code() -> None:
    text = (
        'See [a]({% page "/b/" %}) and [c]({% link d.md %}#e) and [f]({{site.baseurl}}/g/).\n'
        '```\n[a]({% page "/b/" %})\n```\n'
    )
    assert without_liquid(text) == (
        'See [a](/b/) and [c](d.md#e) and [f](/g/).\n```\n[a]({% page "/b/" %})\n```\n'
    )


def page(key: str, *addresses: str) -> SourcePage:
    path = PurePosixPath(f"{key}.md")
    return SourcePage(PurePosixPath(key), path, key, None, addresses)


@pytest.mark.parametrize(
    ("href", "leads_to"),
    [
        ("sibling.md", "guide/sibling"),
        ("./sibling.md#part", "guide/sibling"),
        ("../top.md", "top"),
        ("/guide/sibling/", "guide/sibling"),
        ("/Guide/Sibling.html", "guide/sibling"),
        ("/old-name/", "top"),
        ("/short", "guide/sibling"),
        ("child/", "guide/page/child"),
        ("with%20space.md", "guide/with space"),
        ("https://example.org/top", None),
        ("//example.org/top", None),
        ("mailto:top@example.org", None),
        ("#part", None),
        ("missing.md", None),
        ("../../../../top.md", None),
        ("http://[", None),
    ],
)
def test_a_link_leads_to_the_page_that_its_file_became(href: str, leads_to: str | None) -> None:
    here = page("guide/page")
    addresses = Addresses(
        [
            here,
            page("top", "/old-name/", "/guide/sibling/"),
            page("guide/sibling", "/short/"),
            page("guide/page/child"),
            page("guide/with space"),
        ]
    )
    found = addresses.resolve(here, href)
    assert (None if found is None else str(found)) == leads_to
