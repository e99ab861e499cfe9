"""The SHA-256 by which an evaluation configuration is told from another."""

import hashlib
import json

from bot.leaderboards.model import Task
from runner_client.captures import CaptureMode, CaptureOptions, Preset
from runner_client.wire import CudaEvaluator

SUBMISSION = "@SUBMISSION@"


def config_sha256(task: Task, capture: CaptureOptions | None = None) -> str:
    """Hex SHA-256 of the sorted-key JSON of the eight entries of an evaluation configuration.

    Those are `lang, main, sources, headers, arch, tests, benchmarks, profile_options`, missing
    ones null, with the submission's text replaced by `@SUBMISSION@`: it stays the same while
    somebody edits a kernel.
    """
    entries = {
        **_program(task),
        "arch": None,
        "tests": list(task.tests),
        "benchmarks": list(task.benchmarks),
        "profile_options": None if capture is None else _options(capture),
    }
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def _program(task: Task) -> dict[str, object]:
    texts = {file.name: SUBMISSION if file.content is None else file.content for file in task.files}
    if not isinstance(task.evaluator, CudaEvaluator):
        return {"lang": "py", "main": task.evaluator.main, "sources": texts, "headers": None}
    compiled = set(task.evaluator.sources)
    return {
        "lang": "cu",
        "main": None,
        "sources": {name: text for name, text in texts.items() if name in compiled},
        "headers": {name: text for name, text in texts.items() if name not in compiled},
    }


def _options(capture: CaptureOptions) -> dict[str, object]:
    """Return what was chosen; a mode and a preset count where they are not the usual ones."""
    options: dict[str, object] = {
        "kernel_name": capture.kernel_name,
        "kernel_name_base": capture.kernel_name_base and capture.kernel_name_base.value,
        "launch_count": capture.launch_count,
        "mode": None if capture.mode is CaptureMode.FIRST else capture.mode.value,
        "preset": None if capture.preset is Preset.FULL else capture.preset.value,
    }
    return {name: value for name, value in options.items() if value is not None}
