"""`ncubot profile`: a capture on this machine, without Discord and without the service."""

from pathlib import Path

import click


@click.command("profile")
@click.argument("submission", type=click.Path(path_type=Path))
@click.option(
    "--problem",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder of the problem, with its task.yml.",
)
@click.option("--benchmark-index", type=click.IntRange(0), help="One entry; all where not given.")
@click.option("--kernel-name", help="Only kernels of this name, or `regex:` and an expression.")
@click.option(
    "--kernel-name-base",
    type=click.Choice(("function", "demangled", "mangled")),
    help="Form of the name that the filter is matched against.",
)
@click.option(
    "--launch-count", type=click.IntRange(1, 1_000), help="Most launches captured; 10 if not given."
)
@click.option(
    "--capture",
    type=click.Choice(("hot", "first", "range", "profiler-api", "timeline", "census")),
    help="What is captured; hot, or first with a kernel filter or a launch count.",
)
@click.option(
    "--preset",
    type=click.Choice(("quick", "standard", "full", "roofline")),
    help="How many counters ncu takes; full if not given.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("ncubot-profile"),
    show_default=True,
    help="Folder for reports and exports.",
)
@click.option("--engine", type=click.Choice(("local", "recorded")))
def command(submission: Path, problem: Path, out: Path, **options: str | int | None) -> int:
    """Profile SUBMISSION against a problem on this machine's GPU."""
    from cli.profile_job import ask, profile  # noqa: PLC0415 - `ncubot --help` imports this module

    engine = options.pop("engine")
    asked = ask(submission, problem, options)
    return profile(asked, out, str(engine) if engine else None)
