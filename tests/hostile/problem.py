"""A problem for hostile submissions: a range that the stand-in ncu understands, without a GPU."""

from runner_client.captures import CaptureOptions
from runner_client.wire import JobSpec, Mode, SourceFile
from tests.standin.problem import EVALUATOR, job

REFERENCE = '''
import os

def launch(name="add_kernel"):
    """What a kernel in the range is for the stand-in ncu."""
    with open(os.path.join(os.environ["TMPDIR"], "launches"), "a") as file:
        file.write(name + "\\n")
'''
HEAD = '''
import ctypes, os, shutil, signal, socket, subprocess, sys, threading, time
from pathlib import Path
from reference import launch

def said(*words):
    print("said:", *words, flush=True)

def attempt(name, call, *arguments):
    """Tell what became of something that must not work."""
    try:
        said(name, "WORKED", call(*arguments))
    except Exception as error:
        said(name, type(error).__name__)
'''
GOOD = HEAD + "\ndef custom_kernel(line):\n    launch()\n    return line.upper()\n"


def submission(body: str, before: str = "") -> str:
    """Return a submission whose `custom_kernel` is `body`; `before` runs when it is imported."""
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return f"{HEAD}\n{before}\ndef custom_kernel(line):\n{lines}\n"


def hostile_job(
    source: str = GOOD, mode: Mode = Mode.PROFILE, *, count: int = 1, timeout_s: float = 20.0
) -> JobSpec:
    """Return a job of this problem."""
    return job(
        source,
        mode,
        count,
        files=(
            SourceFile(name="eval.py", content=EVALUATOR),
            SourceFile(name="reference.py", content=REFERENCE),
        ),
        timeout_s=timeout_s,
        capture=CaptureOptions(launch_count=10),
    )
