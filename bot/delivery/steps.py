"""Named points of a job's life between which the program may be killed at any instant.

Each `after-` step stands between something that happened outside (Discord, a runner, the disk) and
the transaction that records it, or right behind that transaction.
"""

import logging
from enum import StrEnum

log = logging.getLogger(__name__)


class Step(StrEnum):
    """Points in the order in which a job passes them; those of delivery come once a message."""

    AFTER_ROW = "after-row"
    """The job is a row with its reply address; no runner knows of it."""
    AFTER_HAND_OVER = "after-hand-over"
    """A runner took it; its row still says accepted."""
    AFTER_QUEUED = "after-queued"
    """The row says queued."""
    AFTER_RUNNING = "after-running"
    """The row says running."""
    AFTER_FETCH = "after-fetch"
    """All files are on the disk; the row does not say so."""
    AFTER_FETCHED = "after-fetched"
    """The row says fetched."""
    AFTER_FAILED = "after-failed"
    """The row says failed, and why; its author was not told."""
    BEFORE_OPEN = "before-open"
    """A message is about to be opened."""
    AFTER_OPEN = "after-open"
    """Discord has the opened message; the delivery's row does not have its id."""
    BEFORE_FILL = "before-fill"
    """A message is about to be filled."""
    AFTER_FILL = "after-fill"
    """Discord has the filled message; the delivery's row does not say so."""
    BEFORE_DELIVERED = "before-delivered"
    """Every message is filled; the job's row says delivering."""
    AFTER_DELIVERED = "after-delivered"
    """The job is over; pictures, which may be lost, come now."""


def reached(step: Step, job_id: str) -> None:
    """Note that a job has come to a point; logged at DEBUG as `step NAME job ID`."""
    log.debug("step %s job %s", step, job_id)
