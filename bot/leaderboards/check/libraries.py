"""Names of libraries that mean something to the contract."""

PUSH_POP_MAKERS = {
    "torch.cuda.nvtx.range",
    "nvtx.annotate",
    "cupyx.profiler.time_range",
    "cupy.prof.time_range",
}
PUSHES = {
    "torch.cuda.nvtx.range_push",
    "nvtx.push_range",
    "cupy.cuda.nvtx.RangePush",
    "cupy.cuda.nvtx.RangePushC",
}
POPS = {"torch.cuda.nvtx.range_pop", "nvtx.pop_range", "cupy.cuda.nvtx.RangePop"}
START_ENDS = {"torch.cuda.nvtx.range_start", "nvtx.start_range"}
# Through ctypes the C names are attributes of any object.
C_PUSHES = {"nvtxRangePushA", "nvtxRangePush"}
C_POPS = {"nvtxRangePop"}
C_START_ENDS = {"nvtxRangeStartA", "nvtxRangeStart"}

PROFILERS = {
    "torch.profiler.profile",
    "torch.profiler._KinetoProfile",
    "torch.autograd.profiler.profile",
}
RECORDS = {"torch.profiler.record_function", "torch.autograd.profiler.record_function"}
SYNCS = {"torch.cuda.synchronize", "torch.cuda.default_stream().synchronize"}
CLONES = {"torch.clone", "copy.deepcopy", "copy.copy"}

GETENVS = {"os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault"}
EXITS = {"sys.exit", "os._exit", "exit", "quit", "os.abort"}
# They return the function that they were given, or one that calls it.
WRAPPERS = {
    "torch.compile",
    "torch.no_grad()",
    "torch.inference_mode()",
    "functools.lru_cache",
    "functools.cache",
}
METHOD_KINDS = {"property", "classmethod", "staticmethod"}
CONTEXT_MANAGERS = {"contextlib.contextmanager", "contextlib.asynccontextmanager"}
# They look at a function and do not call it.
LOOKERS = {"print", "str", "repr", "isinstance", "callable", "id", "hasattr", "type", "hash"}
LOOKER_MODULES = ("inspect.", "logging.")
RUNNERS = ("subprocess.", "runpy.", "os.exec", "os.spawn", "os.system", "os.posix_spawn")
MATCHERS = {"re.fullmatch", "re.match", "re.search"}
MATCHER_METHODS = {"fullmatch", "match", "search"}
# Methods of pools and executors: their argument runs in another thread or process.
ELSEWHERE = {
    "apply",
    "apply_async",
    "imap",
    "imap_unordered",
    "map_async",
    "starmap",
    "starmap_async",
    "submit",
}
ELSEWHERE_CALLS = ("Process", "Thread", "spawn", "run_in_executor", "to_thread")
ENVIRONMENT: dict[str, str] = {"POPCORN_FD": "3", "POPCORN_NCU": "1"}
"""What the runner sets for certain."""
MODE = "profile"
OTHER_MODES = {"test", "benchmark", "leaderboard", "script", "private"}
MODE_NAMES = {"mode", "command", "action"}
