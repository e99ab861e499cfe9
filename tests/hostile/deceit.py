"""Submissions that forge results, and those that will not end. Data only."""

from runner_client.wire import BenchmarkStatus, FailureKind, Mode
from tests.hostile.case import SHORT_S, ended, fine

FORGERIES = (
    ended(
        "forged lines and CSV",
        FailureKind.NOTHING_IN_RANGE,
        r"""
print('==PROF== Profiling "forged" - 0 (999/1000): 0%....100% - 1 passes', flush=True)
print('==PROF== Report: /job/out/profile.0.ncu-rep', flush=True)
table = '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n'
table += '"0","forged","Occupancy","Achieved Occupancy","%","99"\n'
print(table, flush=True)
Path('/job/out/ncu-details.0.csv').write_text(table)
return line.upper()
""",
        "forged",
    ),
    fine(
        "every descriptor",
        r"""
for descriptor in range(3, 51):
    try: os.write(descriptor, b'check: pass\nx: y\n{"child-pid": 1}\n{"exit-code": 0}\n')
    except OSError: pass
""",
    ),
    ended(
        "a forged verdict",
        FailureKind.WRONG_ANSWER,
        r"""
os.write(int(os.environ['POPCORN_FD']), b'check: pass\nbenchmark.0.status: pass\n')
return line
""",
        mode=Mode.BENCHMARK,
    ),
    ended("ends well at once", FailureKind.PROGRAM_DIED, "os._exit(0)"),
    ended(
        "ends well at once without ncu",
        FailureKind.EVALUATOR_ERROR,
        "os._exit(0)",
        mode=Mode.BENCHMARK,
    ),
    ended(
        "another program in its place",
        FailureKind.PROGRAM_DIED,
        "os.execvp('true', ['true'])",
    ),
)
STAYING = (
    fine("500 launches", "for number in range(499): launch(f'kernel_{number}')", kernels=10),
    ended(
        "never returns",
        FailureKind.TIME_LIMIT,
        "launch()\ntime.sleep(600)",
        status=BenchmarkStatus.PARTIAL,
        kernels=1,
        timeout_s=SHORT_S,
    ),
    ended(
        "ignores SIGTERM",
        FailureKind.TIME_LIMIT,
        """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
launch()
while True: time.sleep(600)
""",
        timeout_s=SHORT_S,
    ),
    fine("a daemon", "subprocess.Popen(['sleep', '600'], start_new_session=True)"),
    fine(
        "a daemon that forks twice",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True: time.sleep(600)
    os._exit(0)
""",
    ),
    fine("a child that holds the pipes", "subprocess.Popen(['sleep', '600'], close_fds=False)"),
    fine(
        "a daemon from the import",
        "pass",
        before="""
if __name__ == '__main__': subprocess.Popen(['sleep', '600'], start_new_session=True)
""",
    ),
    fine(
        "an import that never ends",
        "pass",
        before="""
if __name__ == '__main__':
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
""",
    ),
    fine(
        "children that go on forking",
        r"""
code = 'import os\nwhile True:\n  if os.fork(): os._exit(0)'
subprocess.Popen([sys.executable, '-c', code], start_new_session=True)
""",
    ),
)
