"""The set-up that bin/demo, bin/test and bin/check share: a Python environment in .venv with the packages they need.

Standard library only, and in a dialect that old Pythons can read, so that they too end with a message rather than a
syntax error.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST, NEWEST = (3, 11), (3, 13)

RUNTIME = "requirements.txt"
DEVELOPMENT = "requirements-dev.txt"  # holds the other one too
STAMPS = {RUNTIME: [RUNTIME], DEVELOPMENT: [RUNTIME, DEVELOPMENT]}


def become(requirements: str, arguments: "list[str]") -> None:
    """Go on as the Python of .venv with these arguments, in the checkout's folder. Does not return."""
    prepare(requirements)
    os.chdir(str(CHECKOUT))
    os.environ.pop("PYTHONSAFEPATH", None)  # `-m` has to find the checkout's modules
    os.execv(str(PYTHON), [str(PYTHON), *arguments])


def prepare(requirements: str) -> None:
    """Make .venv what it has to be. Ends the process with one line where that can't be done.

    Two that run at once take turns; the second finds everything done. What was interrupted is done again, since the
    stamp that says "done" is written last.

    Arguments:
        requirements: RUNTIME or DEVELOPMENT.
    """
    lock = os.open(str(CHECKOUT / "bin"), os.O_RDONLY)  # a folder can be locked, and is there
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not venv_works():
            make_venv()
        if read(stamp(requirements)) != digest():
            install(requirements)
    except KeyboardInterrupt:
        sys.exit("Interrupted; run it again to go on.")
    finally:
        os.close(lock)


def venv_works() -> bool:
    """Return whether .venv has a pip, and a Python of the version that it was made with."""
    version = version_of(str(PYTHON))
    name = "{}.{}".format(*version)
    made_with = [line.partition("=")[2].strip() for line in read(VENV / "pyvenv.cfg").splitlines() if is_version(line)]
    has_pip = (VENV / "lib" / ("python" + name) / "site-packages" / "pip").is_dir()
    return supported(version) and has_pip and all(text.startswith(name + ".") for text in made_with)


def is_version(line: str) -> bool:
    """Return whether a line of pyvenv.cfg says which version of Python it is for."""
    return line.partition("=")[0].strip() in ("version", "version_info")


def make_venv() -> None:
    """Make .venv, in place of one that does not work."""
    python = find_python()
    if run(python, "-c", "import ensurepip, venv") != 0:
        sys.exit(f"{python} can't make virtual environments. On Debian and Ubuntu: apt install python3-venv")
    say(f"Making a Python environment in .venv, with {python}")
    if VENV.is_symlink():
        VENV.unlink()
    shutil.rmtree(str(VENV), ignore_errors=True)
    if subprocess.call([python, "-m", "venv", str(VENV)]) != 0:
        sys.exit(f"{python} could not make .venv; what it said is above.")


def install(requirements: str) -> None:
    """Install what a file lists; pip says only what goes wrong."""
    say(f"Installing the packages of {requirements} in .venv; once, for about a minute")
    for name in STAMPS[requirements]:
        if stamp(name).exists():
            stamp(name).unlink()
    options = ["--quiet", "--quiet", "--no-input", "--disable-pip-version-check", "--prefer-binary"]
    command = [str(PYTHON), "-m", "pip", "install", *options, "-r", str(CHECKOUT / requirements)]
    if subprocess.call(command, stdin=subprocess.DEVNULL) != 0:
        sys.exit(f"pip could not install the packages of {requirements}; what it said is above.")
    for name in STAMPS[requirements]:
        stamp(name).write_text(digest())


def stamp(requirements: str) -> Path:
    """Return the file that says for which requirements .venv was last set up."""
    return VENV / (requirements + ".installed")


def digest() -> str:
    """Return a hash of all that decides what is installed."""
    files = [CHECKOUT / name for name in (RUNTIME, DEVELOPMENT, "constraints.txt")]
    return hashlib.sha256("\0".join(read(path) for path in files).encode()).hexdigest()


def find_python() -> str:
    """Return a Python that the product supports: this one, one on the PATH, or this one though it is newer."""
    this = getattr(sys, "_base_executable", None) or sys.executable  # not the one of a .venv about to be replaced
    others = [f"python3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    for python in [this, *filter(None, map(shutil.which, others))]:
        if OLDEST <= version_of(python) <= NEWEST:
            return python
    if supported(version_of(this)):
        return this
    sys.exit("This needs Python {}.{} or newer; python3 here is {}.{}.".format(*OLDEST, *sys.version_info[:2]))


def supported(version: "tuple[int, int]") -> bool:
    """Return whether the product can run on this version."""
    return version >= OLDEST


def version_of(python: str) -> "tuple[int, int]":
    """Return a Python's major and minor version; (0, 0) if it does not run (a shim without a version behind it)."""
    command = [python, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        major, minor = result.stdout.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0, 0


def run(*command: str) -> int:
    """Run a command without its output, and return its exit code."""
    return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def read(path: Path) -> str:
    """Return a file's text; empty if it is not there."""
    try:
        return path.read_text()
    except OSError:
        return ""


def say(line: str) -> None:
    """Tell the person at the terminal what takes a while."""
    print(line, file=sys.stderr, flush=True)
