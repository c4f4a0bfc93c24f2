"""What can go wrong with a chat, in the words that a person reads."""

from shared.core.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PageturnError,
    UnauthenticatedError,
)


class UnknownContextError(NotFoundError):
    """There is no such chat context."""

    code = "unknown_context"


class ChatNotFoundError(NotFoundError):
    """There is no such chat, or it is not yours."""

    code = "chat_not_found"


class ChatDisabledError(ForbiddenError):
    """Chat is switched off in this workspace."""

    code = "chat_disabled"


class SessionRequiredError(BadRequestError):
    """Chat needs a signed-in session: an API key cannot hold a conversation."""

    code = "session_required"


class EmptyPromptError(InvalidInputError):
    """Write a message first: the last message of yours has no text."""

    code = "empty_prompt"


class NoUserMessageError(InvalidInputError):
    """The request holds no message of yours to answer."""

    code = "no_user_message"


class PromptTooLongError(InvalidInputError):
    """The message is too long: put the text into a page and ask about the page."""

    code = "prompt_too_long"


class UnsupportedPartError(InvalidInputError):
    """Only text can be sent in a message."""

    code = "unsupported_part"


class TurnRunningError(ConflictError):
    """An answer is still being written in this chat: wait for it or stop it."""

    code = "turn_running"


class MessageNotFoundError(NotFoundError):
    """There is no such message in this chat."""

    code = "message_not_found"


class NothingToContinueError(ConflictError):
    """The last answer of this chat was not cut off: there is nothing to go on with."""

    code = "nothing_to_continue"


class TokenCeilingError(ForbiddenError):
    """This chat has used the tokens that a chat may use here: begin a new one."""

    code = "token_ceiling"


class QueueFullError(ConflictError):
    """Too many messages wait in this chat: wait until some are sent, or remove some."""

    code = "queue_full"


class QueuedSendNotFoundError(NotFoundError):
    """This message does not wait any more: it has been sent or removed."""

    code = "queued_message_not_found"


class SessionEndedError(UnauthenticatedError):
    """You were signed out before this message could be sent."""

    code = "session_ended"


class NothingToRegenerateError(ConflictError):
    """This chat has no message that could be answered again."""

    code = "nothing_to_regenerate"


class LostLeaseError(PageturnError):
    """Another attempt owns this turn now."""

    code = "lost_lease"


class UnknownOutcomeError(PageturnError):
    """The call was sent, but its worker stopped before the answer came: it may have been done
    or not. Find out before it is made again."""

    code = "unknown_outcome"
