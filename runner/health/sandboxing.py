"""Whether the programs of a submission are contained on this machine, and by what."""

from runner.engine import Engine
from runner.health.checks import bad, doubt, good
from runner.settings import RunnerSettings, SandboxName
from runner_client.wire import Finding, LimitsInForce

WATCH = "watch"


async def sandbox_findings(engine: Engine, settings: RunnerSettings) -> tuple[Finding, ...]:
    """Start a trivial program in the sandbox, and tell the limits in force."""
    limits = (await engine.system()).limits
    told = () if limits is None else (_limits(limits),)
    if settings.sandbox is SandboxName.NONE:
        mend = "unset `sandbox`: strangers' code runs with this process's rights"
        return (doubt("sandbox", "there is none, because the settings say so", mend), *told)
    fault = await engine.sandbox_fault()
    if fault:
        mend = "install bubblewrap, and let the runner's user make user namespaces"
        return (bad("sandbox", f"bubblewrap starts no program: {fault}", mend),)
    return (good("sandbox", f"bubblewrap works, started by {_user(limits)}"), *told)


def _limits(limits: LimitsInForce) -> Finding:
    text = (
        f"{limits.memory_bytes / 1e9:.0f} GB of memory and {limits.processes:,} processes by "
        f"{limits.enforced_by}; {limits.job_bytes / 1e9:.0f} GB of files, {limits.cpu_s:,} s of "
        f"CPU and {limits.open_files:,} open files a process"
    )
    if limits.enforced_by != WATCH:
        return good("limits", text)
    mend = "let the runner make control groups (Delegate=yes in its unit), or set `sandbox_user`"
    return doubt("limits", text, mend)


def _user(limits: LimitsInForce | None) -> str:
    return f"user {limits.user}" if limits is not None else "the runner's user"
