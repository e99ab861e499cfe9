"""Which artifact names become files."""

import pytest

from runner_client.errors import Broken
from runner_client.names import local_name


@pytest.mark.parametrize(
    "name",
    [
        "profile.0.ncu-rep",
        "profile.3-batch-640-n-512.ncu-rep",
        "ncu-details.12.csv",
        "ncu-details.0.txt",
        "ncu-raw.1.csv",
        "census.0.json",
        "profile.3-batch-640-n-512.nsys-rep",
        "nsys-kernels.1.csv",
        "manifest.json",
    ],
)
def test_names_on_the_list_are_rebuilt(name: str) -> None:
    assert local_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "profile.ncu-rep",
        "../manifest.json",
        "manifest.json\n",
        "profile.0-../../x.ncu-rep",
        "profile.00.ncu-rep",
        "profile.0.csv",
        "ncu-raw.0.txt",
        "census.0.csv",
        "census.0-shape.json",
        "nsys-kernels.0.nsys-rep",
        "ncu-details.0-shape.csv",
        "profile.\u0661.ncu-rep",
        "eval.py",
    ],
)
def test_all_others_are_refused(name: str) -> None:
    with pytest.raises(Broken):
        local_name(name)
