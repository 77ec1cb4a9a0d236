"""What a time depends on: processor, memory, system, versions; nothing that names the machine or its user."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("frozenpinn", "numpy", "scipy", "sympy", "scikit-sundae", "jax", "scikit-fem")
LABELS = {
    "cpu": "Processor",
    "cores": "Cores",
    "memory": "Memory",
    "os": "System",
    "python": "Python",
    "blas": "Linear algebra",
    "versions": "Versions",
    "date": "Date",
    "kept": "Runs kept from",
}


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory, system, Python, versions of packages, BLAS and the date.

    Host names, users' names and paths do not appear.
    """
    return {
        "cpu": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": _memory(),
        "os": _system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "blas": _blas(),
        "versions": _versions(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def origin_of(machine: Mapping[str, Any]) -> str:
    """Return in one line what tells times apart: processor, cores, Python and the versions of packages."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['python']}, {versions}"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine() or "unknown"


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return "unknown"
    return f"{size / 2**30:.0f} GiB"


def _system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    kernel = re.match(r"[\d.]*\d", platform.release())
    system = f"{platform.system()} {kernel.group() if kernel else ''}".strip()
    return f"{name} ({system}, {platform.machine()})" if name else f"{system} ({platform.machine()})"


def _blas() -> list[str]:
    """Return the libraries that NumPy and SciPy have loaded, with their threads."""
    import numpy as np
    import scipy.linalg
    from threadpoolctl import threadpool_info

    scipy.linalg.norm(np.ones(2))  # both libraries are loaded now
    found = []
    for library in threadpool_info():
        if library.get("user_api") == "blas":
            count = library.get("num_threads")
            parts = (library.get("internal_api"), library.get("version"), library.get("architecture"))
            name = " ".join(str(part) for part in parts if part)
            found.append(f"{name}, {count} thread{'' if count == 1 else 's'}")
    return sorted(set(found))


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine_list(machine: Mapping[str, Any]) -> str:
    """Return the description as a list of HTML."""
    items = (
        f"<div><dt>{escape(LABELS.get(key, key))}</dt><dd>{_value(value)}</dd></div>" for key, value in machine.items()
    )
    return f'<dl class="machine">{"".join(items)}</dl>'


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{escape(str(key))}&nbsp;{escape(str(entry))}" for key, entry in value.items()) or "–"
    if isinstance(value, list | tuple):
        return "<br>".join(escape(str(entry)) for entry in value) or "–"
    return escape(str(value))
