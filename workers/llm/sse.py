"""Server-sent events as bytes come: the payloads of their `data` lines.

Lines end with \\n, \\r\\n or \\r and with nothing else, whatever U+2028 or U+0085 a payload
holds (WHATWG HTML, 9.2.6); so this works on bytes. Unlike the standard's, an event that the
end of the stream cuts short counts: servers forget the last blank line.
"""

from shared.core.tunables import MODEL_EVENT_BYTES

_BOM = b"\xef\xbb\xbf"


class EventTooLongError(ValueError):
    """An event is longer than `max_bytes`."""


class SseDecoder:
    """Feed it pieces as they come, then call `end`."""

    def __init__(self, max_bytes: int = MODEL_EVENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._partial: list[bytes] = []  # of the line whose end has not come
        self._data: list[bytes] = []  # of the event whose end has not come
        self._held = 0  # bytes in both
        self._after_return = False
        self._begun = False

    def feed(self, piece: bytes) -> list[bytes]:
        """The payloads that this piece completes. Raises EventTooLongError."""
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")
            self._after_return = False
        if b"\r" in piece:
            self._after_return = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = piece.split(b"\n")
        rest = lines.pop()
        payloads: list[bytes] = []
        if lines:
            if self._partial:
                lines[0] = b"".join((*self._partial, lines[0]))
                self._partial.clear()
            for line in lines:
                self._take(line, payloads)
            self._held = sum(map(len, self._data)) + len(self._data)
        if rest:
            self._partial.append(rest)
            self._held += len(rest)
        if self._held > self._max_bytes:
            raise EventTooLongError
        return payloads

    def end(self) -> list[bytes]:
        """The payload of an event that nothing ended."""
        payloads: list[bytes] = []
        self._take(b"".join(self._partial), payloads)
        self._partial.clear()
        self._take(b"", payloads)
        return payloads

    def _take(self, line: bytes, payloads: list[bytes]) -> None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BOM)
        if not line:
            if self._data:
                payloads.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                self._data.clear()
        elif line.startswith(b"data:"):
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b"error:"):
            # Not of the standard: so some servers report a failure in mid-stream.
            self._data.append(b'{"error":' + line[6:] + b"}")
