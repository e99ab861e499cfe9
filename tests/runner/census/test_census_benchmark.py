"""What the benchmark makes of ncu's table."""

from collections import Counter

import pytest

from benchmarks.census import Agreement, durations

LOG = """==PROF== Connected to process 7
"ID","Kernel Name","gpu__time_duration.sum"
"","","ns"
"0","a","1,000"
"1","b","600"
"2","a","500.5"
"""


def test_durations_are_added_up_by_name() -> None:
    assert durations(LOG) == Counter(a=1_500, b=600)


def test_agreement() -> None:
    told = Agreement(census=Counter(a=700, b=160, c=140), ncu=Counter(a=800, b=90, c=110))
    assert told.ratio == 1
    assert told.swapped == pytest.approx(0.02)
    assert told.furthest == pytest.approx(0.1)
