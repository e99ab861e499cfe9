"""Where the files of jobs lie: a folder a job below the data folder."""

import re
from pathlib import Path

_JOB_ID = re.compile(r"[0-9a-f]{32}")


class ArtifactFiles:
    """The files that were fetched from runners."""

    def __init__(self, data: Path) -> None:
        self._root = data.absolute() / "jobs"

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job; it need not exist. Raises ValueError for no job's id."""
        if _JOB_ID.fullmatch(job_id) is None:
            raise ValueError("not a job id")
        return self._root / job_id
