"""Submissions that leave the sandbox, or put odd things where the runner looks. Data only."""

from runner_client.wire import FailureKind
from tests.hostile.case import SHORT_S, ended, fine

ESCAPES = (
    ended(
        "kills its parent",
        FailureKind.PROGRAM_DIED,
        "os.kill(os.getppid(), 9)\ntime.sleep(600)",
    ),
    ended("kills everybody", FailureKind.PROGRAM_DIED, "os.kill(-1, 9)\ntime.sleep(600)"),
    ended(
        "stops its parent",
        FailureKind.TIME_LIMIT,
        "os.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(600)",
        timeout_s=SHORT_S,
    ),
    fine("kills the first process", "os.kill(1, 9); os.kill(1, 15)"),
    fine(
        "traces its parents",
        """
libc = ctypes.CDLL(None, use_errno=True)
ATTACH, DETACH = 16, 17
for pid in (os.getppid(), 1):
    if libc.ptrace(ATTACH, pid, 0, 0) == 0:
        os.waitpid(pid, 0x40000000)
        libc.ptrace(DETACH, pid, 0, 0)
    said('traced')
""",
        "said: traced",
    ),
    fine(
        "mounts",
        """
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    said(name, getattr(libc, name)(*arguments), os.strerror(ctypes.get_errno()))
call('mount', b'none', b'/tmp', b'tmpfs', 0, None)
call('umount2', b'/job/src/eval.py', 2)
call('mount', None, b'/job/src/eval.py', None, 32 | 4096, None)
call('unshare', 0x10000000)
call('unshare', 0x00020000)
call('chroot', b'/job')
""",
        "said: mount -1 Operation not permitted",
        "said: umount2 -1 Operation not permitted",
        "said: unshare -1 No space left on device",
        "said: unshare -1 Operation not permitted",
        "said: chroot -1 Operation not permitted",
    ),
    fine(
        "other users",
        """
copy = Path.home() / 'id'
shutil.copy(shutil.which('id'), copy)
attempt('setuid', os.setuid, 1000)
copy.chmod(0o6755)
attempt('chown', os.chown, copy, 1, 1)
attempt('mknod', os.mknod, str(Path.home() / 'disk'), 0o60666, os.makedev(254, 0))
said(open('/proc/self/status').read().split('CapEff:')[1].split()[0])
""",
        "said: setuid OSError",
        "said: chown OSError",
        "said: mknod PermissionError",
        "said: 0000000000000000",
    ),
    fine(
        "the system's files",
        """
for path in ('/usr/bin/env', '/etc/group', '/x', '/usr/x', '/dev/x', '/job/x'):
    attempt(path, open, path, 'w')
opened = []
for path in [*Path('/proc/sys').rglob('*'), *Path('/proc').glob('[a-z]*')]:
    try: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)); opened.append(str(path))
    except OSError: pass
said('opened', opened)
""",
        *(f"said: {path} OSError" for path in ("/usr/bin/env", "/x", "/dev/x", "/job/x")),
        "said: opened []",
    ),
)
FILES = (
    fine(
        "rewrites the evaluator",
        """
for name in ('eval.py', 'reference.py', 'submission.py'):
    Path('new').write_text('x')
    attempt('write ' + name, open, name, 'w')
    attempt('replace ' + name, os.replace, 'new', name)
    attempt('unlink ' + name, os.unlink, name)
    attempt('chmod ' + name, os.chmod, name, 0o777)
attempt('line', open, sys.argv[2], 'w')
""",
        *(
            f"said: {verb} {name} OSError"
            for name in ("eval.py", "reference.py")
            for verb in ("write", "unlink", "replace", "chmod")
        ),
        "said: line OSError",
    ),
    fine(
        "a module in the next evaluator's way",
        """
said('left', [path.name for path in Path().iterdir() if 'planted' in path.name])
Path('planted.py').write_text('x')
Path('random.py').write_text('raise SystemExit(0)')
Path('__pycache__').mkdir(exist_ok=True)
for path in Path('__pycache__').iterdir(): path.write_text('planted')
""",
        "said: left []",
        count=2,
    ),
    ended(
        "a link as the report",
        FailureKind.SUBMISSION_ERROR,
        "os.symlink('/etc/passwd', '/job/out/profile.0.ncu-rep')\nreturn line.upper()",
        "the report is not a plain file",
    ),
    ended(
        "a folder as the report",
        FailureKind.SUBMISSION_ERROR,
        "os.makedirs('/job/out/profile.0.ncu-rep/x')\nreturn line.upper()",
        "the report is not a plain file",
    ),
    ended(
        "a pipe as the report",
        FailureKind.SUBMISSION_ERROR,
        "os.mkfifo('/job/out/profile.0.ncu-rep')\nreturn line.upper()",
        "the report is not a plain file",
    ),
    ended(
        "rubbish as the report",
        FailureKind.EXPORT_FAILED,
        "Path('/job/out/profile.0.ncu-rep').write_text('../../etc/passwd')\nreturn line.upper()",
    ),
    fine(
        "odd names in the output folder",
        r"""
out = Path('/job/out')
for name in ('a\nb', '-rf', '; touch x', 'x' * 255, '\u202e', '%s%n', '..a', ' ', '$(id)'):
    (out / name).write_text('x')
for name in ('ncu-details.0.csv', 'profile.1.ncu-rep', 'manifest.json'):
    (out / name).write_text('x')
os.close(os.open(b'/job/out/\xff\xfe', os.O_CREAT))
os.symlink('/', out / 'root')
os.mkfifo(out / 'pipe')
""",
    ),
    fine(
        "deep folders",
        """
os.chdir(Path.home())
for _ in range(1200):
    os.mkdir('d')
    os.chdir('d')
os.chdir('/job/src')
""",
    ),
    fine(
        "folders without rights",
        """
folder = Path.home() / 'a/b/c'
folder.mkdir(parents=True)
(folder / 'x').touch()
for path in (folder, folder.parent, folder.parent.parent): path.chmod(0)
""",
    ),
    fine(
        "removes its own folders",
        """
for path in ('/job/src', '/job/home', '/job/given', '/job'): shutil.rmtree(path, True)
said(sorted(os.listdir('/job/src')))
""",
        "'eval.py', 'reference.py', 'submission.py'",
    ),
)
