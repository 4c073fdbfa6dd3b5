"""Talks to the server with the client of version 1, in an environment of its own: `python old_client.py COMMAND...`.

Prints one JSON object: the revision that was agreed on, the tools, and what they answered.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command: str, *arguments: str) -> None:
    calls = json.loads(sys.stdin.read())
    parameters = StdioServerParameters(command=command, args=list(arguments))
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        agreed = await session.initialize()
        tools = (await session.list_tools()).tools
        answers = []
        for name, given in calls:
            result = await session.call_tool(name, given)
            answers.append([name, result.isError, result.structuredContent, result.content[0].text])
        prompts = (await session.list_prompts()).prompts
        resources = (await session.list_resources()).resources
        guide = await session.read_resource(resources[0].uri)
        told = {
            "revision": agreed.protocolVersion,
            "tools": [tool.name for tool in tools],
            "answers": answers,
            "prompts": [prompt.name for prompt in prompts],
            "guide": guide.contents[0].text,
        }
        print(json.dumps(told))


asyncio.run(main(*sys.argv[1:]))
