"""Debian's packages that the benchmark compares with or needs: installed once where that is possible."""

import os
import shutil
import subprocess


def install(*packages: str) -> None:
    """Ask apt-get for them. Whether that worked is for the caller to see: its program is there or not."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print(f"==> apt-get install {' '.join(packages)}")
    for argv in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", *packages],
    ):
        subprocess.run(
            argv,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
