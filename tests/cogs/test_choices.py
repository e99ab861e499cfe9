"""What Discord offers while somebody types /profile."""

from tests.cogs.conftest import World


async def offered(world: World, option: str, typed: str, **filled: str) -> list[tuple[str, object]]:
    choices = await world.alice.autocomplete(world.channel, "profile", option, typed, **filled)
    return [(choice["name"], choice["value"]) for choice in choices]


async def test_leaderboards_complete_by_any_part_of_their_name(world: World) -> None:
    assert await offered(world, "leaderboard", "QR") == [("qr_v2", "qr_v2")]
    assert len(await offered(world, "leaderboard", "")) == len(world.services.catalogue.all())
    assert await offered(world, "leaderboard", "nothing like it") == []


async def test_gpus_are_those_of_the_leaderboard_with_runners_first(world: World) -> None:
    assert await offered(world, "gpu", "", leaderboard="qr_v2") == [
        ("H200", "H200"),
        ("H100 (no runner here)", "H100"),
        ("B200 (no runner here)", "B200"),
        ("A100 (no runner here)", "A100"),
    ]
    assert await offered(world, "gpu", "") == [("H200", "H200")]


async def test_a_benchmark_shows_its_shape(world: World) -> None:
    shapes = await offered(world, "benchmark", "", leaderboard="QR_V2")
    assert shapes[3] == ("3 · batch: 640; n: 512; cond: 2; seed: 9001", 3)
    assert await offered(world, "benchmark", "n: 512", leaderboard="qr_v2") == [shapes[3]]
    assert await offered(world, "benchmark", "") == []
