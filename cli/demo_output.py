"""Writes what a user got in Discord to files that can be read without it."""

import asyncio
import re
from pathlib import Path

import discord
from simcord.results import ResponseMessage

from bot.reports.neutral import ZERO_WIDTH
from bot.reports.uploads import size_words

_ESCAPED = re.compile(r"\\([\\`*_~|\[\]#>+-])")


async def write_reply(messages: list[ResponseMessage], out: Path) -> list[Path]:
    """Write `reply.md`, and each message's files in a folder of its own; return the paths."""
    contents = [
        (f"message-{number}", [(file.filename, await file.read()) for file in message.attachments])
        for number, message in enumerate(messages, 1)
    ]
    text = "\n\n".join(map(as_markdown, messages)) + "\n"
    return await asyncio.to_thread(_write, out, text, contents)


def _write(out: Path, text: str, contents: list[tuple[str, list[tuple[str, bytes]]]]) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    reply = out / "reply.md"
    reply.write_text(text, encoding="utf-8")
    written = [reply]
    for folder, files in contents:
        (out / folder).mkdir(exist_ok=True)
        for name, content in files:
            path = out / folder / name
            path.write_bytes(content)
            written.append(path)
    return written


def as_markdown(message: ResponseMessage) -> str:
    """Return a message as Markdown: title, table, facts, the names and sizes of its files."""
    titles = [f"## {embed.title}\n" for embed in message.embeds if embed.title]
    files = [f"- `{file.filename}` ({size_words(file.size)})" for file in message.attachments]
    parts = [*titles, message.content, *map(_under_the_table, message.embeds), *files]
    return "\n".join(part for part in parts if part)


def _under_the_table(embed: discord.Embed) -> str:
    facts = " · ".join(f"**{field.name}** {field.value}" for field in embed.fields)
    footer = f"_{embed.footer.text}_" if embed.footer.text else ""
    description = (embed.description or "").replace(ZERO_WIDTH, "")
    return "".join(f"\n{part}\n" for part in (description, facts, footer) if part)


def summary(message: ResponseMessage) -> str:
    """Return a message for the terminal."""
    text = as_markdown(message).replace("```\n", "").replace("```", "").replace("**", "")
    return _ESCAPED.sub(r"\1", text)
