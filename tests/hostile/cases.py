"""Every hostile submission, by what it tries."""

from tests.hostile.breakout import ESCAPES, FILES
from tests.hostile.deceit import FORGERIES, STAYING
from tests.hostile.greed import RESOURCES, SPYING

GROUPS = (RESOURCES, SPYING, ESCAPES, FILES, FORGERIES, STAYING)
CASES = tuple(case for group in GROUPS for case in group)
