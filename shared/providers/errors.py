"""What can be wrong with a choice of models, in the words that a person reads."""

from shared.core.errors import ForbiddenError, InvalidInputError


class SettingsForbiddenError(ForbiddenError):
    """Only owners and admins of the workspace see and change its AI settings."""

    code = "settings_forbidden"


class UnknownDriverError(InvalidInputError):
    """There is no such driver."""

    code = "unknown_driver"


class UnknownModelError(InvalidInputError):
    """This driver has no such model."""

    code = "unknown_model"
