"""A machine to throw away: this one's files under an overlay, and namespaces of its own. systemd is stood in for.

What is installed, written and started in it is gone when it ends. It takes root on Linux, and a container that allows
mounts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import CHECKOUT
from tests.deploy import stand_ins

UNSHARE = ("unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child")
NEEDED = ("unshare", "mount", "chroot", "setpriv", "ip", "adduser", "nginx", "openssl", "curl", "git", "pg_lsclusters")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

TRY = """
mount -t tmpfs tmpfs /mnt && mkdir /mnt/upper /mnt/work /mnt/root &&
    mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
"""
SET_UP = """
set -eu
mount -t tmpfs -o mode=755 tmpfs "$MACHINE"
mkdir "$MACHINE/upper" "$MACHINE/work" "$MACHINE/root"
root="$MACHINE/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$MACHINE/upper,workdir=$MACHINE/work" "$root"
for folder in $BOUND; do mkdir -p "$root$folder"; mount --bind "$folder" "$root$folder"; done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir -p "$root/run/postgresql" "$root/run/systemd" && chown postgres "$root/run/postgresql"
ip link set lo up
for folder in $READ; do
    while [ "$folder" != / ]; do chmod o+x "$root$folder"; folder=$(dirname "$folder"); done
done
for name in $STAND_INS; do
    printf '#!/bin/sh\\nexec %s -I %s %s "$@"\\n' "$PYTHON" "$PROGRAM" "$name" > "$root/usr/local/sbin/$name"
    chmod 755 "$root/usr/local/sbin/$name"
done
newest=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
[ -n "$(chroot "$root" pg_lsclusters -h)" ] || chroot "$root" pg_createcluster "$newest" main
exec chroot "$root" env -i PATH="$PATH" HOME=/root LANG=C.UTF-8 REPOSITORY="$CHECKOUT" HOST="$HOST" bash -euxc "$SCRIPT"
"""


def why_not() -> str:
    """What is missing here for such a machine; nothing when it can be had."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "it takes root on Linux"
    missing = [name for name in NEEDED if shutil.which(name, path=PATH) is None]
    if missing:
        return f"no {', '.join(missing)}"
    tried = subprocess.run([*UNSHARE, "sh", "-c", TRY], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


def run(script: str, folder: Path, host: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a shell script there; all that it has started ends with it."""
    python, prefixes = Path(sys.executable), {sys.prefix, sys.base_prefix, str(CHECKOUT)}
    elsewhere = [each for each in sorted(prefixes) if os.stat(each).st_dev != os.stat("/").st_dev]
    variables = {
        "PATH": PATH,
        "MACHINE": str(folder),
        "BOUND": " ".join(elsewhere),
        "READ": " ".join(sorted({*prefixes, str(python.resolve().parent)})),
        "PYTHON": str(python),
        "PROGRAM": stand_ins.__file__,
        "STAND_INS": " ".join(stand_ins.NAMES),
        "CHECKOUT": str(CHECKOUT),
        "HOST": host,
        "SCRIPT": script,
    }
    command = [*UNSHARE, "bash", "-c", SET_UP]
    return subprocess.run(
        command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
    )
