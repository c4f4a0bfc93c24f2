"""A folder of Markdown files as a tree of pages. Reads the disk; knows no database."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ops.importing.liquid import without_liquid
from shared.core.tunables import MAX_IMPORT_FILE_BYTES, MAX_TITLE_CHARS
from shared.wiki.document import JsonDict, from_markdown, split_title

_SUFFIXES = frozenset({".md", ".markdown"})
_INDEXES = ("index", "readme")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page to be. `path` is its file, or its folder where none stands for it.

    `key` is its place in the tree, the file's path without suffix: that of the folder for
    the page of a folder. `addresses` are the further ones under which others link to it.
    """

    key: PurePosixPath
    path: PurePosixPath
    title: str
    document: JsonDict | None
    addresses: tuple[str, ...] = ()
    redirect: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that cannot be a page, and why."""

    path: PurePosixPath
    reason: str


@dataclass(slots=True)
class Source:
    """Pages, parents before children, and the files that gave none."""

    pages: list[SourcePage] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_folder(root: Path) -> Source:
    """Every Markdown file below `root`, in the order of names; hidden ones and symbolic
    links are left out. A folder with pages is a page itself: its index or README file, else
    the file beside it with its name, else an empty page named after it."""
    source = Source()
    _read_level(root, root, source)
    return source


def _read_level(root: Path, folder: Path, source: Source) -> None:
    files, folders = _entries(folder)
    names = {path.stem: path for path in files}
    for path in files:
        if folder != root and path.stem.lower() in _INDEXES:
            continue  # it is the folder's own page, read with the folder
        _add_file(root, path, _relative(root, path).with_suffix(""), source)
    for path in folders:
        if any(_markdown_below(path)):
            if path.name not in names:
                _add_folder(root, path, source)
            _read_level(root, path, source)


def _entries(folder: Path) -> tuple[list[Path], list[Path]]:
    entries = sorted(folder.iterdir(), key=lambda path: path.name)
    seen = [p for p in entries if not p.name.startswith(".") and not p.is_symlink()]
    files = [p for p in seen if p.suffix.lower() in _SUFFIXES and not p.is_dir()]
    return files, [p for p in seen if p.is_dir()]


def _markdown_below(folder: Path) -> Iterator[Path]:
    files, folders = _entries(folder)
    yield from files
    for path in folders:
        yield from _markdown_below(path)


def _add_folder(root: Path, folder: Path, source: Source) -> None:
    key = _relative(root, folder)
    index = next((p for p in _entries(folder)[0] if p.stem.lower() in _INDEXES), None)
    if index is None or not _add_file(root, index, key, source):
        source.pages.append(SourcePage(key, key, humanised(folder.name), None))


def _add_file(root: Path, path: Path, key: PurePosixPath, source: Source) -> bool:
    where = _relative(root, path)
    try:
        text = _read_text(path)
    except _UnreadableError as error:
        source.problems.append(Problem(where, str(error)))
        return False
    source.pages.append(_page(key, where, text))
    return True


class _UnreadableError(Exception):
    """The reason, in a few words."""


def _read_text(path: Path) -> str:
    try:
        if not path.is_file():
            raise _UnreadableError("not a regular file")
        if path.stat().st_size > MAX_IMPORT_FILE_BYTES:
            raise _UnreadableError(f"larger than {MAX_IMPORT_FILE_BYTES // 1024 // 1024} MB")
        raw = path.read_bytes()
    except OSError as error:
        raise _UnreadableError(error.strerror or type(error).__name__) from error
    if b"\0" in raw:
        raise _UnreadableError("not a text file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _UnreadableError("not UTF-8 text") from error


def _page(key: PurePosixPath, path: PurePosixPath, text: str) -> SourcePage:
    parsed = from_markdown(without_liquid(text))
    matter = parsed.front_matter
    title = _plain_title(matter.get("title"))
    if not title or title == parsed.title:
        title, parsed = title or parsed.title or "", split_title(parsed)
    redirect = _one_line(matter.get("redirect_to")) or _one_line(matter.get("redirect"))
    return SourcePage(
        key=key,
        path=path,
        title=(title or humanised(_name(path)))[:MAX_TITLE_CHARS],
        document=parsed.doc,
        addresses=tuple(_strings(matter.get("permalink")) + _strings(matter.get("redirect_from"))),
        redirect=redirect or None,
    )


def _name(path: PurePosixPath) -> str:
    return path.parent.name or path.stem if path.stem.lower() in _INDEXES else path.stem


def humanised(name: str) -> str:
    """`travel-and-leave` as `Travel and leave`; a name of signs alone as it is."""
    words = name.replace("-", " ").replace("_", " ").split()
    text = " ".join(words)
    return text[:1].upper() + text[1:] if text else name


def _one_line(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _plain_title(value: Any) -> str:
    """Front matter titles are often written for HTML: `Logging in &amp; <em>out</em>`."""
    return _one_line(html.unescape(_TAG.sub("", _one_line(value))))


def _strings(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, str)]


def _relative(root: Path, path: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(root).as_posix())
