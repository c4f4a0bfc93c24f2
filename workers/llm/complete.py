"""A whole answer at once, for calls that nobody watches: titles and summaries."""

from workers.llm.base import Model, ModelRequest, TextPiece, Usage


async def complete(model: Model, request: ModelRequest) -> tuple[str, Usage | None]:
    """The text of the answer, and the tokens if the provider told them. Raises ModelError."""
    text: list[str] = []
    usage = None
    async for event in model.stream(request):
        if isinstance(event, TextPiece):
            text.append(event.text)
        elif isinstance(event, Usage):
            usage = event
    return "".join(text), usage
