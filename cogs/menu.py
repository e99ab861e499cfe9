"""The menu of a message: "Profile this kernel", for a file that somebody has posted."""

from pathlib import PurePath

import discord
from discord import app_commands, ui
from discord.ext import commands

from bot.answers import DiscordInteraction, answer, answer_error, refusals_answered
from bot.jobs.errors import OptionInvalid
from bot.reports.neutral import clip
from bot.services import Services
from cogs.asking import Asked, profile
from cogs.choices import MOST, NAME_LIMIT
from cogs.deferring import defer
from cogs.desk import JobCog
from cogs.gate import Gated, check_let_in
from runner_client.captures import CaptureMode, CaptureOptions, Preset, capture_options

MENU = "Profile this kernel"
SUITABLE = (".py", ".cu", ".cuh", ".cpp")
NOTHING_ATTACHED = "That message has no attachment: choose one with a kernel file."
NOTHING_SUITABLE = f"No attachment of that message is a kernel file ({', '.join(SUITABLE)})."
FILE_DECIDES = "As the file's #!POPCORN line says"
USUAL = "Hot kernels, or the first that the filter names"
CAPTURES = (
    ("hot", "Hot kernels", "the kernels that hold 95 % of the time, full counters"),
    ("hot:quick", "Hot kernels, quick", "few counters: faster, and a small report"),
    ("hot:standard", "Hot kernels, standard", "the usual sections"),
    ("hot:roofline", "Hot kernels, roofline", "what a roofline needs"),
    ("first", "First launches", "from the start of the call, full counters"),
    ("first:quick", "First launches, quick", "few counters: faster, and a small report"),
    ("range", "Whole range", "the call as one, full counters"),
    ("census", "Census", "every kernel by time within seconds, no counters"),
)
Field = ui.Select[ui.Modal] | ui.TextInput[ui.Modal]


class ProfileForm(Gated, ui.Modal, title=MENU):
    """Asks for the rest, then goes the way of /profile."""

    def __init__(self, services: Services, submission: discord.Attachment, place: str) -> None:
        super().__init__(timeout=900)
        self._services = services
        self._submission = submission
        self.leaderboard = _field("leaderboard", list(services.catalogue.open_names()))
        self.gpu = _field("gpu", list(services.runners.gpus()))
        self.benchmark = _text("benchmark", "A number; empty means every shape", 4)
        self.kernel = _text("kernel", "A name, or regex:EXPRESSION; empty means all", 1_024)
        self.capture = _captures()
        # Five parts are all that a form can have, so that the file is named beside the first.
        shown = clip(f"{submission.filename} {place}".strip(), 100)
        self.add_item(ui.Label(text="Leaderboard", description=shown, component=self.leaderboard))
        self.add_item(ui.Label(text="GPU", component=self.gpu))
        self.add_item(ui.Label(text="Benchmark", component=self.benchmark))
        self.add_item(ui.Label(text="Kernel filter", component=self.kernel))
        self.add_item(ui.Label(text="Capture", component=self.capture))

    async def on_submit(self, interaction: DiscordInteraction, /) -> None:
        """Profile the file."""
        await defer(interaction)
        async with refusals_answered(interaction):
            asked = Asked(
                leaderboard=_value(self.leaderboard),
                gpu=_value(self.gpu),
                benchmark=_number(_value(self.benchmark)),
                capture=_capture(_value(self.capture), _value(self.kernel)),
            )
            await profile(interaction, self._services, self._submission, asked)

    async def on_error(
        self, interaction: DiscordInteraction, error: Exception, /, *_: object
    ) -> None:
        """Answer what went wrong."""
        await answer_error(interaction, error)


class Menu(JobCog):
    """The message menu."""

    def __init__(self, bot: commands.Bot) -> None:
        super().__init__(bot)
        self._menu = app_commands.ContextMenu(name=MENU, callback=self.open_form)
        self._menu.add_check(check_let_in)
        self._menu.error(self._failed)

    async def cog_load(self) -> None:
        """Open the services and add the menu, which no decorator can do inside a cog."""
        await super().cog_load()
        self.bot.tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Take the menu away."""
        self.bot.tree.remove_command(self._menu.name, type=self._menu.type)
        await super().cog_unload()

    async def open_form(self, interaction: DiscordInteraction, message: discord.Message) -> None:
        """Show the form for the first attachment that can be a kernel."""
        attached = _attachments(message)
        suitable = [file for file in attached if _is_suitable(file)]
        if not suitable:
            await answer(interaction, NOTHING_SUITABLE if attached else NOTHING_ATTACHED)
            return
        place = f"(the first of {len(attached)} attachments that fits)" if attached[1:] else ""
        await interaction.response.send_modal(ProfileForm(self.services, suitable[0], place))

    async def _failed(
        self, interaction: DiscordInteraction, error: app_commands.AppCommandError
    ) -> None:
        await answer_error(interaction, error)


def _attachments(message: discord.Message) -> list[discord.Attachment]:
    forwarded = (file for snapshot in message.message_snapshots for file in snapshot.attachments)
    return [*message.attachments, *forwarded]


def _is_suitable(file: discord.Attachment) -> bool:
    return PurePath(file.filename).suffix.lower() in SUITABLE


def _field(name: str, values: list[str]) -> Field:
    """Return a menu of `values` where they fit in one, else a line of text."""
    if not 1 <= len(values) <= MOST or any(len(value) > NAME_LIMIT for value in values):
        return _text(name, FILE_DECIDES, NAME_LIMIT)
    options = [
        discord.SelectOption(label=value, value=value, default=len(values) == 1) for value in values
    ]
    return ui.Select(custom_id=name, placeholder=FILE_DECIDES, options=options, required=False)


def _captures() -> ui.Select[ui.Modal]:
    """Return the menu of capture modes and presets, none of which means the usual ones."""
    options = [
        discord.SelectOption(label=label, value=value, description=why)
        for value, label, why in CAPTURES
    ]
    return ui.Select(custom_id="capture", placeholder=USUAL, options=options, required=False)


def _capture(chosen: str | None, kernel: str | None) -> CaptureOptions:
    mode, _, preset = (chosen or "").partition(":")
    return capture_options(
        mode=CaptureMode(mode) if mode else None,
        preset=Preset(preset) if preset else None,
        kernel_name=kernel,
    )


def _text(name: str, placeholder: str, most: int) -> ui.TextInput[ui.Modal]:
    return ui.TextInput(custom_id=name, placeholder=placeholder, max_length=most, required=False)


def _value(field: Field) -> str | None:
    if isinstance(field, ui.Select):
        return field.values[0] if field.values else None
    return field.value.strip() or None


def _number(text: str | None) -> int | None:
    """Return the benchmark's index. Raises OptionInvalid."""
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise OptionInvalid("benchmark", "it is not a number")
    return int(text)


async def setup(bot: commands.Bot) -> None:
    """Add the cog; called by load_extension."""
    await bot.add_cog(Menu(bot))
