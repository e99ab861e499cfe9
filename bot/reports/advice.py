"""What ncu's own rules found, in our words around their numbers.

A rule's text is recognised by the clause that carries its numbers. What no template recognises (a
rule of a newer ncu, another wording) is shown as its own first sentence, cut.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from counters.model import Rule
from counters.names import plain

LONGEST = 120

_SCANNED = 4_000
_NUMBER = r"([0-9][0-9.,]{0,20})"
# These say where in the tool to look, and carry no number.
_SILENT = (
    ("CPIStall", "Check the Warp Stall Sampling"),
    ("SOLFPRoofline", "The ratio of peak"),
)
_WAITS = (
    ("scoreboard dependency on a L1TEX", "data from global or local memory (L1TEX)"),
    ("scoreboard dependency on a MIO", "shared memory or special functions (MIO)"),
    ("after EXIT", "their last stores before they exit"),
    ("fetch an instruction", "instructions: short kernel or long jumps"),
    ("fixed latency", "the instruction before (fixed latency)"),
    ("sibling warps at a CTA barrier", "other warps at a barrier"),
    ("immediate constant cache", "constants not in the cache (IMC)"),
    ("L1 instruction queue for local and global", "room in the memory queue (LG)"),
    ("MIO (memory input/output) instruction queue", "room in the MIO queue"),
    ("execution pipe to be available", "a math pipe that is taken"),
    ("branch target", "a branch to resolve"),
    ("micro scheduler to select", "their turn: enough warps are ready"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's finding. `speedup` is ncu's own estimate in percent, None where it gives none.

    `local` says that the estimate is for a part of the hardware only, not for the kernel.
    """

    rule: str
    text: str
    speedup: float | None
    local: bool


@dataclass(frozen=True, slots=True)
class _Template:
    rule: str
    pattern: re.Pattern[str]
    text: str


def _template(rule: str, pattern: str, text: str) -> _Template:
    return _Template(rule, re.compile(pattern.replace("#", _NUMBER)), text)


_TEMPLATES = (
    _template(
        "AchievedOccupancy",
        r"theoretical \(#%\) and measured achieved occupancy \(#%\)",
        "Occupancy is {1}% of a possible {0}%: warps start late or blocks end unevenly.",
    ),
    _template(
        "FPInstructions",
        r"executes # fused and # non-fused (\w{2,8}) .{0,300}?by up to #%",
        "{0} fused and {1} non-fused {2} instructions: fused multiply-adds give up to {3}% there.",
    ),
    _template(
        "HighPipeUtilization",
        r"All compute pipelines are under-utilized",
        "No compute pipe is busy: too little work, or too few warps.",
    ),
    _template(
        "HighPipeUtilization",
        r"([\w ()]{2,40}) is the highest-utilized pipeline \(#%\)",
        "The busiest pipe is {0} at {1}%.",
    ),
    _template(
        "IssueSlotUtilization",
        r"instruction every # cycles.{0,200}?maximum of # warps per scheduler.{0,60}?average of #",
        "A scheduler issues once in {0} cycles; {2} of {1} warps are active.",
    ),
    _template(
        "LaunchConfiguration",
        r"only # blocks?, which is less than the GPU's # multiprocessors",
        "{0} blocks cannot fill {1} SMs: use a larger grid or smaller blocks.",
    ),
    _template(
        "LaunchConfiguration",
        r"# full waves and a partial wave of # thread blocks.{0,200}?up to #%",
        "After {0} full waves, {1} blocks are left over: up to {2}% of the time.",
    ),
    _template(
        "MemoryCacheAccessPattern",
        r"for (\w+ \w+) (?:from|to) (\w+) might .{0,80}?only # of the # bytes",
        "{0} ({1}) use {2} of {3} bytes in a sector: strided access?",
    ),
    _template(
        "MemoryL2Compression",
        r"Out of the # bytes .{0,60}?only #%",
        "L2 compression shrank {1}% of {0} bytes; matters for compressible memory only.",
    ),
    _template(
        "MemoryL2Compression",
        r"#x the data written to the L2",
        "L2 compression moves {0}x the data written; matters for compressible memory only.",
    ),
    _template(
        "PCSamplingData",
        r"no samples could be collected",
        "No PC samples: the kernel is too short.",
    ),
    _template(
        "PMSamplingData",
        r"larger than #% of the workload duration",
        "Sampling over time is too coarse for so short a kernel.",
    ),
    _template(
        "SOLBottleneck",
        r"resulting in only # full waves",
        "The grid is too small: {0} full waves over all SMs.",
    ),
    _template(
        "SOLBottleneck",
        r"bandwidth below #% of peak",
        "Compute and memory are both below {0}%: waiting, not work, takes the time.",
    ),
    _template(
        "SOLBottleneck",
        r"greater than #% .{0,250}?analyzing ([\w ]{1,30}) in",
        "Above {0}% of peak at {1}: only less work there makes it faster.",
    ),
    _template(
        "SOLBottleneck",
        r"well-balanced",
        "Compute and memory are equally busy: reduce both.",
    ),
    _template(
        "SharedMemoryConflicts",
        r"for (shared \w+) .{0,80}?average a # ?- ?way .{0,150}?represent #%",
        "{0}: {1}-way bank conflicts, {2}% of their wavefronts.",
    ),
    _template(
        "TheoreticalOccupancy",
        r"theoretical occupancy \(#%\) is limited by ([^.]{4,150})",
        "Occupancy cannot pass {0}%: limited by {1}.",
    ),
    _template(
        "ThreadDivergence",
        r"average of # threads being active .{0,60}?to # threads",
        "{0} threads of a warp are active, {1} after predication: divergent branches.",
    ),
    _template(
        "UncoalescedGlobalAccess",
        r"# excessive sectors \(#% of the total # sectors\)",
        "Uncoalesced global accesses: {1}% of {2} sectors are too many.",
    ),
    _template(
        "UncoalescedSharedAccess",
        r"# excessive wavefronts \(#% of the total # wavefronts\)",
        "Uncoalesced shared accesses: {1}% of {2} wavefronts are too many.",
    ),
    _template(
        "WorkloadImbalance",
        r"One or more ([\w ]{2,20}) have .{0,250}?value is #% above .{0,80}?is #% below",
        "Work is uneven over {0}: from {2}% below to {1}% above average.",
    ),
)
_STALL = re.compile(rf"spends {_NUMBER} cycles being stalled (.{{0,200}})")
_STALL_TOTAL = re.compile(rf"total average of {_NUMBER} cycles")
_ZEROS = re.compile(r"\.0+$")
_SENTENCE_END = re.compile(r"(?<=[a-z)%])\.(?=\s|[A-Z]|$)")


def findings(rules: Iterable[Rule]) -> tuple[Finding, ...]:
    """Return what the rules found, the largest estimated speed-up first, then those without one.

    Estimates for the whole kernel come before those for a part of the hardware.
    """
    found = dict.fromkeys(_finding(rule) for rule in rules if not _is_silent(rule))
    return tuple(sorted(found, key=_order))


def _finding(rule: Rule) -> Finding:
    text = plain(rule.description[:_SCANNED])
    said = _stall(text) if rule.name == "CPIStall" else _templated(rule.name, text)
    return Finding(rule.name, said or _first_sentence(text), rule.speedup, _is_local(rule))


def _order(finding: Finding) -> tuple[bool, bool, float]:
    return finding.speedup is None, finding.local, -(finding.speedup or 0.0)


def _is_local(rule: Rule) -> bool:
    return rule.speedup_type.strip().lower() == "local"


def _is_silent(rule: Rule) -> bool:
    return any(
        rule.name == name and rule.description.startswith(start) for name, start in _SILENT
    ) or not plain(rule.description[:_SCANNED])


def _templated(rule: str, text: str) -> str:
    for template in _TEMPLATES:
        if template.rule == rule and (match := template.pattern.search(text)):
            said = template.text.format(*(_trimmed(group) for group in match.groups()))
            return _cut(said[0].upper() + said[1:])
    return ""


def _trimmed(number: str) -> str:
    return _ZEROS.sub("", number.strip().rstrip(".,"))


def _stall(text: str) -> str:
    spent, total = _STALL.search(text), _STALL_TOTAL.search(text)
    if spent is None or total is None:
        return ""
    reason = next((ours for theirs, ours in _WAITS if theirs in spent[2]), "")
    cycles = f"{_trimmed(spent[1])} of {_trimmed(total[1])} cycles"
    return f"Warps wait {cycles} for {reason}." if reason else ""


def _first_sentence(text: str) -> str:
    return _cut(_SENTENCE_END.split(text, maxsplit=1)[0].rstrip(".") + ".")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
