"""The codes of what goes wrong with a provider, in words for those who can mend it."""

# What says something of the connection itself, not of one message.
REASONS = {
    "provider_auth": "The provider refuses the key.",
    "provider_quota": "The provider says that the account's quota is used up.",
    "provider_rate_limit": "The provider gets more requests than this account may send.",
    "provider_overloaded": "The provider is overloaded.",
    "provider_error": "The provider answered with an error.",
    "provider_timeout": "The provider did not answer in time.",
    "provider_network": "The provider cannot be reached at its address.",
    "provider_bad_response": "What answers at the base URL is not understood: is it the right one?",
    "model_not_found": "The provider has no such model.",
    "tools_unsupported": "The model cannot call tools, which the agent needs.",
    "not_configured": "Something is missing in the AI settings.",
}
