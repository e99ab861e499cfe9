import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.reports.json_report import JsonReport
from counters.model import KernelReport
from counters.parse import parse_lines, read_report
from tests.counters.make import document, launch, lines, rule, with_value


def to_json(report: KernelReport) -> bytes:
    return b"".join(JsonReport(report.kernels))


def test_the_form_that_scripts_rely_on() -> None:
    rows = [
        *launch(7, "void ns::k<1>(int)", with_value("Duration", "n/a")[:1]),
        rule(7, "void ns::k<1>(int)", "SOLBottleneck", "OPT", "Look there", "global", "47.25"),
    ]
    text = to_json(parse_lines(lines(document(rows))))
    assert json.loads(text) == {
        "kernels": [
            {
                "id": 7,
                "name": "void ns::k<1>(int)",
                "short_name": "ns::k",
                "grid": [16, 2, 1],
                "block": [32, 8, 1],
                "device": "0",
                "compute_capability": "9.0",
                "metrics": [
                    {
                        "section": "GPU Speed Of Light Throughput",
                        "name": "Duration",
                        "unit": "ns",
                        "value": None,
                        "text": "n/a",
                    }
                ],
                "rules": [
                    {
                        "name": "SOLBottleneck",
                        "type": "OPT",
                        "description": "Look there",
                        "speedup_type": "global",
                        "speedup": 47.25,
                    }
                ],
            }
        ],
        "degraded": True,
        "missing_share": 1.0,
    }


def test_a_real_run(recordings: Path) -> None:
    decoded = json.loads(to_json(read_report(recordings / "ok-triton-1024" / "ncu-details.csv")))
    (kernel,) = decoded["kernels"]
    assert (kernel["grid"], kernel["block"]) == ([1024, 1, 1], [128, 1, 1])
    assert (decoded["degraded"], decoded["missing_share"]) == (False, 0.0)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_nothing_in_it_moves_a_terminal_and_nothing_is_lost(name: str) -> None:
    text = to_json(parse_lines(lines(document(launch(name=name)))))
    assert not set(map(chr, [*range(32), *range(127, 160), 0x202E, 0x2066])) & set(text.decode())
    assert json.loads(text)["kernels"][0]["name"] == name
