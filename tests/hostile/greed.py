"""Submissions that take all there is, or look where they must not. Data only."""

from runner_client.wire import FailureKind
from tests.hostile.case import SHORT_S, ended, fine

RESOURCES = (
    ended(
        "fork bomb",
        FailureKind.PROCESS_LIMIT,
        """
while True:
    try: os.fork()
    except OSError: pass
""",
    ),
    ended(
        "thread bomb",
        FailureKind.PROCESS_LIMIT,
        """
while True:
    try: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    except RuntimeError: pass
""",
    ),
    ended(
        "memory",
        FailureKind.MEMORY_LIMIT,
        """
kept = []
while True: kept.append(bytearray(1 << 22))
""",
    ),
    ended(
        "memory of many children",
        FailureKind.MEMORY_LIMIT,
        """
for _ in range(12):
    if os.fork() == 0:
        kept = bytearray(64 << 20)
        time.sleep(600)
time.sleep(600)
""",
    ),
    fine(
        "shared memory",
        """
shared = Path('/dev/shm/x')
try:
    with shared.open('wb') as file:
        while True: file.write(bytes(1 << 20))
except OSError as error: said(error.strerror, shared.stat().st_size)
""",
        "said: No space left on device 8388608",
    ),
    ended(
        "disk of many files",
        FailureKind.DISK_LIMIT,
        """
for number in range(1 << 30):
    Path.home().joinpath(str(number)).write_bytes(bytes(1 << 20))
    time.sleep(0.002)
""",
    ),
    ended(
        "one huge file",
        FailureKind.SUBMISSION_ERROR,
        """
with open(Path.home() / 'x', 'wb') as file:
    file.seek(1 << 40)
    file.write(b'x')
""",
        "File too large",
    ),
    ended(
        "100 MB on stdout",
        FailureKind.OUTPUT_LIMIT,
        """
for _ in range(1600): os.write(1, bytes(1 << 16))
time.sleep(600)
""",
    ),
    fine("10 MB on stderr", "for _ in range(160): os.write(2, b'e' * 65536)"),
    fine(
        "megabytes on POPCORN_FD",
        """
log = int(os.environ['POPCORN_FD'])
for number in range(80): os.write(log, b'%d: ' % number + b'v' * 65536 + b'\\n')
""",
    ),
    fine(
        "open files",
        """
kept = []
try:
    while True: kept.append(open('/dev/null'))
except OSError as error: problem = error.strerror
kept.clear()
said(problem)
""",
        "said: Too many open files",
    ),
    fine("many files", "for number in range(2000): (Path.home() / str(number)).touch()"),
    ended(
        "CPU time",
        FailureKind.TIME_LIMIT,
        """
os.fork(); os.fork()
while True: pass
""",
        timeout_s=SHORT_S,
    ),
)
SPYING = (
    fine(
        "network",
        """
attempt('runner', socket.create_connection, ('127.0.0.1', {port}), 2)
attempt('world', socket.create_connection, ('1.1.1.1', 53), 2)
attempt('name', socket.getaddrinfo, 'example.org', 80)
said(sorted(os.listdir('/sys/class/net')), socket.gethostname())
""",
        "said: runner ConnectionRefusedError",
        "said: world OSError",
        "said: name gaierror",
        "runner\n",
    ),
    fine(
        "other jobs",
        """
skip = {'/proc', '/sys', '/usr', '/dev', sys.prefix, sys.base_prefix}
wanted = {'spec.json', 'events.jsonl', 'result.json', 'artifacts', 'jobs', 'ncubot.toml'}
found = []
for top, folders, files in os.walk('/'):
    folders[:] = [name for name in folders if os.path.join(top, name) not in skip]
    found += wanted.intersection(folders, files)
    found += wanted.intersection(files)
said('found', found)
""",
        "said: found []",
    ),
    fine(
        "the token",
        """
processes = list(Path('/proc').glob('[0-9]*'))
text = repr(dict(os.environ)).encode()
for folder in processes:
    text += (folder / 'environ').read_bytes() + (folder / 'cmdline').read_bytes()
said('token', b'TOKEN' in text, b'data/work' in text, len(processes) < 10)
said(text.replace(bytes(1), b' ')[-3000:])
""",
        "said: token False",
        "True\n",
        hides=("{token}",),
    ),
    fine(
        "secrets of the system",
        """
for path in ('/etc/shadow', '/etc/ssh', '/etc/ssl', '/home', '/var', '/run', '/boot', '/mnt'):
    if os.path.exists(path): said('SEEN', path)
for path in ('/sys/fs/cgroup', '/sys/kernel', '/proc/1/root/var', '/dev/vda', '/dev/sda'):
    if os.path.exists(path): said('SEEN', path)
attempt('kmsg', open, '/proc/kmsg')
attempt('slabinfo', open, '/proc/slabinfo')
""",
        "said: kmsg PermissionError",
        "said: slabinfo PermissionError",
        hides=("SEEN", "WORKED"),
    ),
)
