"""What is said of how much of a call was captured: lines for a reply, and a census as a table."""

from bot.reports.neutral import clip
from counters.names import escaped
from runner_client.captures import (
    WITHOUT_COUNTERS,
    CaptureMode,
    CensusFound,
    CensusNote,
    CensusReport,
    CensusSign,
    Coverage,
    Place,
)

MOST_ROWS = 15
NAME_WIDTH = 44
COUNTING = "census: counting the kernels of the call, without ncu"
_HEAD = f"{'kernel':{NAME_WIDTH}} {'launches':>9} {'time':>9} {'share':>7}"
_WHOLE = {
    CaptureMode.RANGE: "one set of counters for the whole call, with no kernels apart",
    CaptureMode.CENSUS: "the kernels were counted and timed; a census has no counters",
    CaptureMode.TIMELINE: (
        "a timeline, which has no counters: open the .nsys-rep with Nsight Systems; its kernels "
        "by time are in the CSV"
    ),
}
_SIGNS = {
    CensusSign.AUTOTUNING: (
        "autotuning runs inside the range: many candidates of {kernel}, {share} of the GPU time. "
        "Tune once when the module is loaded or in the warm-up, or keep the best configuration"
    ),
    CensusSign.CACHE_FLUSH: (
        "a tuner's cache flushes run inside the range: {launches} launches of {kernel}, {share} of "
        "the GPU time. Tune once when the module is loaded or in the warm-up"
    ),
    CensusSign.COMPILATION: (
        "the GPU was idle for {share} of the range, as when a kernel is compiled in it. Compile "
        "when the module is loaded or in the warm-up"
    ),
}


def captured_words(coverage: Coverage | None, launches: int, cap: int | None = None) -> str:
    """Say in a few words what was captured: `4 launches (cap 10)`, `the call as one`."""
    mode = coverage.mode if coverage else CaptureMode.FIRST
    if mode in WITHOUT_COUNTERS:
        return "a census, no counters" if mode is CaptureMode.CENSUS else "a timeline, no counters"
    if mode is CaptureMode.RANGE and launches:
        return "the call as one" if launches == 1 else f"{launches} ranges, each as one"
    words = "1 launch" if launches == 1 else f"{launches} launches"
    return words if cap is None else f"{words} (cap {cap})"


def coverage_lines(coverage: Coverage | None, kernels: int) -> tuple[str, ...]:
    """Return plain sentences; `kernels` launches were captured. Names in them are not trusted."""
    if coverage is None:
        return ()
    census = coverage.census
    lines = [_fallback(coverage), _captured(coverage, kernels), _place(coverage, kernels)]
    if census is not None:
        lines += [_unseen(coverage, census), *(_note(note) for note in census.notes[:3])]
    return tuple(line for line in lines if line)


def found_words(found: CensusFound) -> str:
    """Say what a census found while what follows from it is under way."""
    kernels = "1 kernel" if found.kernels == 1 else f"{found.kernels:,} kernels"
    launches = "1 launch" if found.launches == 1 else f"{found.launches:,} launches"
    what = f"{found.chosen} of them" if found.chosen else "the first launches"
    return f"census: {launches} of {kernels}; now capturing {what}"


def share_words(share: float) -> str:
    """Return a share of time as a per cent: `99.0 %`, `<0.01 %`."""
    if 0 < share < 0.000_05:
        return "<0.01 %"
    return f"{share:.2%}".replace("%", " %") if share < 0.01 else f"{share:.1%}".replace("%", " %")


def census_table(census: CensusReport) -> str:
    """Return the kernels by time as lines of text, the hottest first."""
    rows = [
        f"{clip(escaped(one.name), NAME_WIDTH):{NAME_WIDTH}} {one.launches:>9,} "
        f"{_time(one.total_ns):>9} {share_words(_of(one.total_ns, census.total_ns)):>7}"
        for one in census.counted[:MOST_ROWS]
    ]
    more = census.kernels - len(rows)
    rest = [f"and {more:,} more, by kernel and shape"] if more > 0 else []
    total = f"{census.launches:,} launches, {_time(census.total_ns)} of GPU time"
    return "\n".join([_HEAD, *rows, *rest, f"{total} in a range of {_time(census.range_ns)}"])


def _fallback(coverage: Coverage) -> str:
    if not coverage.fallback:
        return ""
    return f"the first launches were captured in place of the hot kernels: {coverage.fallback}"


def _captured(coverage: Coverage, kernels: int) -> str:
    census, share = coverage.census, coverage.share
    if coverage.mode in _WHOLE:
        return _WHOLE[coverage.mode]
    if census is None or not kernels:
        return ""
    place = f"captured {kernels:,} of {census.launches:,} launches"
    if share is None:
        return place
    if coverage.mode is CaptureMode.HOT:
        return f"{place}, representing {share_words(share)} of GPU time"
    left = max(census.launches - kernels, 0)
    return f"{place}, holding {share_words(share)} of GPU time; {left:,} were left out"


def _place(coverage: Coverage, kernels: int) -> str:
    """Say which launch was taken, and where it is not from the middle, why."""
    place = coverage.place
    if place is None or place.most < 2 or not kernels:
        return ""
    one = place.fewest == place.most
    of = f"{place.most:,}" if one else f"{place.fewest:,} to {place.most:,}"
    processes = coverage.census.processes if coverage.census else 1
    each = " in each process" if processes > 1 else ""
    return f"of each kernel, launch {place.nth:,} of {of} was taken{each}{_early(place)}"


def _early(place: Place) -> str:
    if place.nth >= place.most // 2:
        return ""
    if place.nth >= place.fewest // 2:
        return ", as far as the rarest one allows: early for the others"
    return ", early in the call: ncu lets launches pass slowly"


def _unseen(coverage: Coverage, census: CensusReport) -> str:
    if census.unseen < 0.005 or coverage.mode is CaptureMode.CENSUS:
        return ""
    return (
        f"{share_words(census.unseen)} of GPU time is in kernels that another thread launched, "
        "which ncu's range does not see"
    )


def _note(note: CensusNote) -> str:
    return _SIGNS[note.sign].format(
        kernel=clip(escaped(note.kernel), 80),
        share=share_words(note.share),
        launches=f"{note.launches:,}",
    )


def _of(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _time(nanoseconds: int) -> str:
    value = float(nanoseconds)
    for unit in ("ns", "µs", "ms"):
        if value < 1_000:
            return f"{value:.3g} {unit}"
        value /= 1_000
    return f"{value:.3g} s"
