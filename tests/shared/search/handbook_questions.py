"""Ten questions about the handbook and the pages that answer them.

Chosen by reading the handbook, before the search was tuned.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    text: str
    pages: frozenset[str]  # titles; any of them is right


def _question(text: str, *pages: str) -> Question:
    return Question(text, frozenset(pages))


QUESTIONS = (
    _question("How do I request leave?", "Leave types", "HR Links"),
    _question("How do I get a PIV card?", "PIV card"),
    _question(
        "Which tool do we use to book travel?",
        "Book travel in Concur and secure approvals",
        "Get access to Concur",
        "TTS Travel 101",
    ),
    _question("What are the rules for passwords?", "Requirements for Passwords"),
    _question("How do I report a breach of the code of conduct?", "Code of conduct"),
    _question(
        "What are performance plans and when are they due?",
        "Performance Management Overview",
        "Performance Management Important Dates",
        "Performance Management Supervisor Resources",
        "Performance Management Employee Resources",
        "Performance management",
    ),
    _question("How can I change my name?", "Changing your name"),
    _question("How do I get reimbursed for travel?", "Get reimbursed"),
    _question(
        "What are the duties of a supervisor?",
        "Supervisor responsibilities",
        "New Supervisor Playbook",
    ),
    _question("How much paid parental leave can I take?", "Paid parental leave (PPL)"),
)
