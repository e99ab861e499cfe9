"""Which GPU names are NVIDIA's."""

import re

_OTHERS = re.compile(
    r"mi\d{2,3}[a-z]*(x\d+)?|gfx\w+|.*\b(amd|radeon|instinct|rocm|intel|gaudi|apple|tpu)\b.*"
    r"|rx[ -]?\d{4}.*|tpu.*|trn\d.*|pvc|m[1-9]([ -]?(pro|max|ultra))?",
    re.IGNORECASE,
)


def is_nvidia(gpu: str) -> bool:
    """Whether a competition's name of a GPU is one that ncu can profile, as far as known."""
    return _OTHERS.fullmatch(gpu.strip()[:100]) is None
