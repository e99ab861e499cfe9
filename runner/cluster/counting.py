"""Whether a cluster's nodes can count kernels, by what the doctor of each found as it joined."""

from collections.abc import Sequence

from runner.cluster.record import NodeRecord
from runner.health.census import CHECK
from runner.health.checks import doubt, good
from runner_client.wire import Finding, Level


def census_of(records: Sequence[NodeRecord]) -> Finding:
    """Return one finding for all: a doubt as soon as one node cannot, with its own reason."""
    asked = [(one.system.hostname, one.census) for one in records if one.census is not None]
    without = [(host, found) for host, found in asked if found.level is not Level.OK]
    if not without:
        return good(CHECK, f"kernels are counted, on {len(asked)} of {len(records)} nodes tried")
    host, found = without[0]
    text = f"{len(without)} of {len(records)} nodes count no kernels; {host}: {found.text}"
    return doubt(CHECK, text, found.mend)
