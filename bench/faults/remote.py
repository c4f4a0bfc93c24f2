"""A tool that calls another system, for the workers of the harness alone."""

import os

import httpx2
from pydantic import Field

from shared.tools.base import Tool, ToolArgs, ToolContext, ToolResult

URL_VARIABLE = "FAULTS_REMOTE_URL"  # where the other system listens
ANSWER_SECONDS = 50.0


class SendRemoteArgs(ToolArgs):
    trial: str = Field(description="Whose call it is.")
    nonce: str = Field(description="Another one each time.")


async def send_remote(_: ToolContext, args: SendRemoteArgs) -> ToolResult:
    async with httpx2.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
        answer = await client.post(os.environ[URL_VARIABLE], json=args.model_dump())
    return ToolResult({"status": answer.status_code})


SEND_REMOTE = Tool(
    name="sendRemote",
    title="Send to another system",
    description="Send something to another system.",
    args=SendRemoteArgs,
    run=send_remote,
    effect="remote",
)
