"""Links written as Liquid tags, which site generators resolve and Markdown cannot read."""

import re

_TAG = re.compile(
    r"\]\(\s*\{%-?\s*(?:page|link|post_url|url)\s+[\"']?([^\"'%\s]+)[\"']?\s*-?%\}([^)\s]*)\s*\)"
)
_VARIABLE = re.compile(r"\]\(\s*\{\{[^}\n]*\}\}(/[^)\s]*)\s*\)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)


def without_liquid(text: str) -> str:
    """`[a]({% page "/b/" %})` and `[a]({{ site.baseurl }}/b/)` as `[a](/b/)`, outside of
    fenced code."""
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_plain(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _plain(text[end:])])


def _plain(text: str) -> str:
    return _VARIABLE.sub(r"](\1)", _TAG.sub(r"](\1\2)", text))
