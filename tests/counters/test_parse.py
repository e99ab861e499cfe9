import csv
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counters.errors import Lack, NoTable
from counters.model import KernelReport, Metric, Rule
from counters.parse import iter_kernels, parse_lines, read_report
from counters.source import Notes
from tests.counters.make import HEADER, SPEED_OF_LIGHT, document, launch, lines, rule, with_value

ONE = document(launch())


def parsed(text: str) -> KernelReport:
    return parse_lines(lines(text))


def without(header: str) -> tuple[tuple[str, ...], list[list[str]]]:
    at = HEADER.index(header)
    return HEADER[:at] + HEADER[at + 1 :], [row[:at] + row[at + 1 :] for row in launch()]


def test_a_kernel_with_everything() -> None:
    (kernel,) = parsed(document([*launch(3, "void ns::k<int>(int)")])).kernels
    assert (kernel.id, kernel.name) == (3, "void ns::k<int>(int)")
    assert kernel.short_name == "ns::k"
    assert (kernel.grid, kernel.block) == ((16, 2, 1), (32, 8, 1))
    assert (kernel.device, kernel.compute_capability) == ("0", "9.0")
    assert kernel.metrics[0] == Metric(SPEED_OF_LIGHT, "Duration", "ns", 21060.0, "21.06")
    assert len(kernel.metrics) == 6
    assert kernel.rules == ()


NOISE = [
    "==WARNING== Unable to deploy section files under HOME\n",
    '  "an unbalanced quote, ID, Kernel Name\n',
    "ID,Name,Value\n\n",
    "nul \0 byte\n",
]


@pytest.mark.parametrize("noise", ["", *NOISE, "".join(NOISE)])
def test_noise_before_the_header_is_skipped(noise: str) -> None:
    assert parsed(noise + ONE) == parsed(ONE)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + ONE,
        "noise\n\ufeff" + ONE,
        "   " + ONE,
        ONE.replace("\n", "\r\n"),
        ONE.replace("\n", "\n\n"),
        document([HEADER, *launch()]),
        document([*launch()[:3], HEADER, *launch()[3:]]),
    ],
    ids=["bom", "bom-after-noise", "indent", "crlf", "blank-lines", "two-headers", "header-again"],
)
def test_same_kernels_whatever_the_file_looks_like(text: str) -> None:
    assert parsed(text) == parsed(ONE)


def test_byte_order_mark_and_broken_utf8_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + document(launch(name="k?")).encode().replace(b"?", b"\xff"))
    (kernel,) = read_report(path).kernels
    assert kernel.name == "k\ufffd"


def test_noise_between_and_after_rows_is_named_and_costs_nothing() -> None:
    broken = ONE.splitlines(keepends=True)
    broken.insert(2, "==PROF== Disconnected\n")
    report = parsed("".join([*broken, '"5","7"\n', '"x",' + broken[1][4:]]))
    assert report.kernels == parsed(ONE).kernels
    assert report.unread == (
        "line 3: not a row of the table",
        "line 9: not a row of the table",
        "line 10: not a row of the table",
    )


def test_unread_lines_are_counted_beyond_twenty() -> None:
    report = parsed(ONE + "noise\n" * 25)
    assert len(report.unread) == 21
    assert report.unread[-1] == "and 5 more lines"


@pytest.mark.parametrize(
    ("column", "lost"),
    [
        ("Grid Size", {"grid": None}),
        ("Block Size", {"block": None}),
        ("Device", {"device": ""}),
        ("CC", {"compute_capability": ""}),
        ("Process ID", {}),
    ],
)
def test_optional_columns_may_be_absent(column: str, lost: dict[str, str | None]) -> None:
    header, rows = without(column)
    (kernel,) = parsed(document(rows, header)).kernels
    (whole,) = parsed(ONE).kernels
    differing = {
        name: getattr(kernel, name)
        for name in whole.__dataclass_fields__
        if getattr(kernel, name) != getattr(whole, name)
    }
    assert differing == lost


@pytest.mark.parametrize(
    "column",
    ["ID", "Kernel Name", "Section Name", "Metric Name", "Metric Unit", "Metric Value"],
)
def test_without_a_mandatory_column_there_is_no_table(column: str) -> None:
    header, rows = without(column)
    with pytest.raises(NoTable) as caught:
        parsed(document(rows, header))
    assert caught.value.lack is Lack.NO_HEADER


@pytest.mark.parametrize(
    ("text", "lack"),
    [
        ("", Lack.EMPTY),
        ("\n \n", Lack.EMPTY),
        ("hello\nworld\n", Lack.NO_HEADER),
        ("NVR\0\x01\x02\n\xff", Lack.BINARY),
        ('"ID","Process ID","Kernel Name","gpu__time_duration.sum"\n"","","","ns"', Lack.RAW_PAGE),
    ],
)
def test_what_stands_there_instead_is_told(text: str, lack: Lack) -> None:
    with pytest.raises(NoTable) as caught:
        parsed(text)
    assert caught.value.lack is lack


def test_the_header_is_not_looked_for_without_end() -> None:
    with pytest.raises(NoTable):
        parse_lines("x" * (1 << 20) for _ in iter(int, 1))


def test_header_only_is_a_report_without_kernels() -> None:
    assert parsed(document([])) == KernelReport((), 1.0, degraded=True)


def test_kernels_are_grouped_by_id_not_by_name() -> None:
    mixed = [row for pair in zip(launch(0), launch(1), launch(12), strict=True) for row in pair]
    report = parsed(document(mixed))
    assert [(k.id, len(k.metrics)) for k in report.kernels] == [(0, 6), (1, 6), (12, 6)]


def test_files_put_together_do_not_merge_other_kernels_of_the_same_id() -> None:
    report = parsed(document([*launch(0, "a"), HEADER, *launch(0, "b")]))
    assert [k.name for k in report.kernels] == ["a", "b"]


def test_rule_rows_are_rules_and_keep_the_rows_after_them() -> None:
    text = 'Low "L2" hits,\nsee "Source",\r\nthen more'
    rows = [
        rule(0, "k", "SOLBottleneck", "OPT", text, "global", "47.25"),
        rule(0, "k", "PMSamplingData", "WRN", "No data", "", ""),
        *launch(0, "k"),
    ]
    (kernel,) = parsed(document(rows)).kernels
    assert kernel.rules == (
        Rule("SOLBottleneck", "OPT", text, "global", 47.25),
        Rule("PMSamplingData", "WRN", "No data", "", None),
    )
    assert len(kernel.metrics) == 6


@pytest.mark.parametrize("text", ["", "n/a", "nan", "inf", "-nan", "PolicySpread", "1e999"])
def test_no_finite_number_is_missing_and_keeps_its_text(text: str) -> None:
    report = parsed(document(launch(metrics=with_value("Duration", text))))
    assert report.kernels[0].metrics[0] == Metric(SPEED_OF_LIGHT, "Duration", "ns", None, text)
    assert report.unread == ()


def test_a_number_of_another_locale_is_missing_and_named() -> None:
    report = parsed(document(launch(metrics=with_value("Duration", "1.234,5"))))
    assert report.kernels[0].metrics[0].value is None
    assert report.unread == ("line 2: Duration: 1.234,5 may be read in two ways",)


def test_an_unknown_unit_is_kept_with_its_value() -> None:
    report = parsed(document(launch(metrics=with_value("Duration", "3.5", "fortnight"))))
    assert report.kernels[0].metrics[0] == Metric(
        SPEED_OF_LIGHT, "Duration", "fortnight", 3.5, "3.5"
    )


@pytest.mark.parametrize("length", [20_000, 200_000])
def test_very_long_names(length: int) -> None:
    name = f"void k<{'T, ' * (length // 3)}int>(int)"
    (kernel,) = parsed(document(launch(name=name))).kernels
    assert (kernel.name, kernel.short_name) == (name, "k")


def test_a_field_over_the_limit_costs_its_own_row_only() -> None:
    before = csv.field_size_limit(1000)
    try:
        report = parsed(document([*launch(0, "x" * 2000, [with_value("", "")[0]]), *launch(1)]))
    finally:
        csv.field_size_limit(before)
    assert [k.id for k in report.kernels] == [1]
    assert report.unread == ("line 2: field larger than field limit (1000)",)


def test_noise_that_is_no_csv_is_skipped_too() -> None:
    before = csv.field_size_limit(100)
    try:
        assert parsed(f"Kernel Name {'x' * 200}\n{ONE}") == parsed(ONE)
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("shape", ["", "16", "(1, 2)", "(a, b, c)", "(1, 2, 99999999999)"])
def test_shapes_that_are_none(shape: str) -> None:
    assert parsed(document(launch(grid=shape))).kernels[0].grid is None


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(TEXT, TEXT.filter(bool), TEXT), min_size=1), TEXT)
def test_any_text_in_any_field_comes_back(rows: list[tuple[str, str, str]], name: str) -> None:
    metrics = [(section, metric, "%", value) for section, metric, value in rows]
    report = parsed(document(launch(4, name, metrics)))
    (kernel,) = report.kernels
    assert kernel.name == name
    assert [(m.section, m.name, m.text) for m in kernel.metrics] == rows


@given(st.text(st.sampled_from('",\n\r\0 0aID')))
def test_no_garbage_after_the_header_breaks_it(garbage: str) -> None:
    assert parsed(ONE + garbage).kernels[0].id == 0


def test_a_row_with_more_cells_than_the_header_is_no_row() -> None:
    shifted = launch()[0] + ["", "", "", "", ""]
    report = parsed(document([*launch(), shifted]))
    assert report.kernels == parsed(ONE).kernels
    assert report.unread == ("line 8: not a row of the table",)


def test_a_rule_row_that_is_short_is_no_rule() -> None:
    report = parsed(document([*launch(), rule(0, "add_kernel", "SOLBottleneck", "OPT")]))
    assert report.kernels[0].rules == ()
    assert report.unread == ("line 8: not a row of the table",)


def test_an_estimate_of_another_locale_is_named() -> None:
    report = parsed(document([rule(0, "k", "SOLBottleneck", "OPT", "Do", "global", "47,25")]))
    assert report.kernels[0].rules == (Rule("SOLBottleneck", "OPT", "Do", "global", None),)
    assert report.unread == ("line 2: SOLBottleneck: 47,25 may be read in two ways",)


def test_a_quote_that_nobody_closes_costs_one_row_and_is_named() -> None:
    rows = ONE.splitlines(keepends=True)
    report = parsed("".join([*rows[:2], '"open\n', *rows[2:]]))
    assert [m.name for m in report.kernels[0].metrics] == [
        m.name for at, m in enumerate(parsed(ONE).kernels[0].metrics) if at != 1
    ]
    assert report.unread == ("line 4: not a row of the table",)


LONG = 'void k<"a, b", ' + "std::pair<int, float>, " * 870 + "(char)44>(const float *, int)"


def test_a_name_of_twenty_thousand_characters_with_commas_and_quotes() -> None:
    assert len(LONG) > 20_000
    (kernel,) = parsed(
        document([*launch(0, LONG), rule(0, LONG, "R", "OPT", LONG, "", "")])
    ).kernels
    assert (kernel.name, kernel.short_name, len(kernel.metrics)) == (LONG, "k", 6)
    assert kernel.rules[0].description == LONG


def test_streaming_yields_each_kernel_when_its_rows_end(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(document([*launch(0), *launch(1), launch(0)[0]]) + "noise\n", encoding="utf-8")
    notes = Notes()
    found = list(iter_kernels(path, notes))
    assert [(kernel.id, len(kernel.metrics)) for kernel in found] == [(0, 6), (1, 6), (0, 1)]
    assert notes.done() == ("line 15: not a row of the table",)
    assert [len(kernel.metrics) for kernel in read_report(path).kernels] == [7, 6]


def test_streaming_holds_one_kernel_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(document(row for index in range(20_000) for row in launch(index)[:1]))
    tracemalloc.start()
    count = sum(1 for _ in iter_kernels(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 2_000_000


CELL = st.text(st.sampled_from('ab,"\n\r <>()µ'), max_size=12)
VALUE = st.sampled_from(["1", "2.50", "1,024", "n/a", "nan", "", "Policy", "-3"])


@st.composite
def exports(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """A header in any order with columns that nobody knows, and rows of some kernels."""
    known = draw(st.permutations(HEADER))
    header = [*known, *draw(st.lists(st.sampled_from(["NVTX", "Kernel Time"]), unique=True))]
    rows = [
        cells
        for kernel_id, name in enumerate(draw(st.lists(CELL, min_size=1, max_size=3)))
        for value in draw(st.lists(VALUE, min_size=1, max_size=3))
        for cells in (
            launch(kernel_id, name, [("S", "M", "us", value)])[0],
            rule(kernel_id, name, "R", "OPT", draw(CELL), "global", "1.5"),
        )
    ]
    padded = [{**dict.fromkeys(header, "x"), **_named(row)} for row in rows]
    return header, [[cells[name] for name in header] for cells in padded]


def _named(row: list[str]) -> dict[str, str]:
    return dict(zip(HEADER, row + [""] * (len(HEADER) - len(row)), strict=True))


def in_order(header: list[str], rows: list[list[str]]) -> list[list[str]]:
    """The same rows in the order of columns that ncu has."""
    return [[dict(zip(header, row, strict=True))[name] for name in HEADER] for row in rows]


@given(exports(), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff", *NOISE]))
def test_columns_are_known_by_name_only(
    export: tuple[list[str], list[list[str]]], end: str, noise: str
) -> None:
    header, rows = export
    assert parsed(noise + document(rows, header, end=end)) == parsed(
        document(in_order(header, rows))
    )
