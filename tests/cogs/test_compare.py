"""/profiles compare: own profiles are offered, and two of them shown side by side."""

from tests.cogs.conftest import World, messages
from tests.standin.problem import replaying


async def offered(world: World, typed: str = "") -> list[tuple[str, str]]:
    choices = await world.alice.autocomplete(world.channel, "profiles compare", "a", typed)
    return [(choice["name"], choice["value"]) for choice in choices]


async def compared(world: World, a: str, b: str) -> str:
    (message,) = messages(await world.alice.slash(world.channel, "profiles compare", a=a, b=b))
    return message.content


async def test_two_profiles_are_compared_kernel_by_kernel(world: World) -> None:
    await world.profile(replaying("ok-geqrf-four-kernels"), "before.py")
    await world.profile(replaying("ok-hot-four-kernels"), "after.py")
    (after, a_value), (before, b_value) = await offered(world)
    assert " · qr_v2 0 on H200 · after.py · batch: 20; n: 32" in after
    assert " · before.py · " in before
    text = await compared(world, b_value, a_value)
    assert text.startswith("```\n")
    assert "before.py" in text
    assert "geqr2_batch_kernel_shmem" in text
    assert len(text) <= 2_000
    same = await compared(world, a_value, a_value)
    assert "gain" not in same
    assert "loss" not in same


async def test_typing_narrows_the_choices(world: World) -> None:
    await world.profile(replaying("ok-triton-1024"), "one.py")
    await world.profile(replaying("ok-triton-1024"), "two.py")
    assert len(await offered(world, "ONE.py")) == 1
    assert await offered(world, "nothing") == []


async def test_a_job_of_several_shapes_is_offered_shape_by_shape(world: World) -> None:
    await world.profile(replaying("ok-triton-1024"), benchmark=None)
    names = [name for name, _ in await offered(world)]
    assert len(names) == 5
    assert "qr_v2 4 on H200" in names[4]


async def test_nobody_sees_or_compares_the_profiles_of_others(world: World) -> None:
    await world.profile(replaying("ok-triton-1024"))
    ((_, value),) = await offered(world)
    world.alice = world.env.guild.add_member(world.env.create_user("bob"))
    assert await offered(world) == []
    assert (await compared(world, value, value)).startswith("You have no job")


async def test_what_is_no_profile_is_refused(world: World) -> None:
    assert await compared(world, "@everyone ```", "x") == (
        'You have no job "@\u200beveryone \\`\u200b\\`\u200b\\`\u200b".'
    )


async def test_a_profile_whose_files_are_gone_says_so(world: World) -> None:
    await world.profile(replaying("ok-triton-1024"))
    ((_, value),) = await offered(world)
    for path in (world.services.settings.data / "jobs").rglob("ncu-details*.csv"):
        path.unlink()
    assert "are no longer kept here: profile again." in await compared(world, value, value)
