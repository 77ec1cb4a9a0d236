"""Pages of the reference: one for each public module, with every public name."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import frozenpinn

GROUPS = {
    "State a problem": (
        *("Problem", "Dirichlet", "Neumann", "Robin", "Periodic", "Free", "Table", "read_table", "read_problem"),
    ),
    "Domains": ("Interval", "Box", "Disk", "Ball", "Polygon", "Implicit", "read_mesh"),
    "Solve and look": ("check", "solve", "estimate_error", "load", "page", "Solution", "ErrorEstimate", "Findings"),
    "Settings": ("Settings", "Windows", "Patches", "Rules"),
    "Eigenvalues, steady states, paths": (
        *("modes", "steady", "stability", "follow", "Eigenvalue", "Mode", "Modes", "Stability", "Path"),
    ),
    "Many problems": ("sweep", "Normal", "Uniform", "model"),
    "Inverse problems": (
        *("infer", "design", "Unknown", "UnknownField", "Measurements", "Relative"),
        *("Estimate", "Inferred", "InferredField", "Design"),
    ),
}


def names_of(module: ModuleType) -> list[str]:
    """Return the public names of a module that are not modules themselves."""
    return [name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)]


def page(module: ModuleType, groups: dict[str, list[str]], title: str) -> str:
    """Return one page of the reference, in reStructuredText."""
    lines = [title, "=" * len(title), ""]
    for heading, names in groups.items():
        if len(groups) > 1:
            lines += [heading, "-" * len(heading), ""]
        for name in names:
            lines += [*_entry(module, name), ""]
    return "\n".join(lines)


def _entry(module: ModuleType, name: str) -> list[str]:
    found = getattr(module, name)
    full = f"{module.__name__}.{name}"
    if inspect.isclass(found):
        kind = "autoexception" if issubclass(found, BaseException) else "autoclass"
        options = (
            [] if issubclass(found, BaseException) else ["   :members:", "   :inherited-members: dict, tuple, str"]
        )
        if getattr(vars(found).get("__call__"), "__doc__", None):  # how its values are called
            options.append("   :special-members: __call__")
        twice = [] if module is frozenpinn or name not in frozenpinn.__all__ else ["   :no-index:"]
        return [f".. {kind}:: {full}", *options, *twice]
    if callable(found):
        return [
            f".. autofunction:: {full}",
            *([] if module is frozenpinn or name not in frozenpinn.__all__ else ["   :no-index:"]),
        ]
    return [f".. autodata:: {full}"]


def write(folder: Path) -> int:
    """Write all pages and return how many names they have."""
    folder.mkdir(exist_ok=True)
    top = names_of(frozenpinn)
    known = {name for names in GROUPS.values() for name in names}
    errors = [name for name in top if name.endswith(("Error", "Warning"))]
    rest = [name for name in top if name not in known and name not in errors]
    groups = {heading: [n for n in names if n in top] for heading, names in GROUPS.items()}
    groups |= ({"More": rest} if rest else {}) | {"Errors and warnings": errors}
    pages = {"index": page(frozenpinn, groups, "Reference")}
    modules = [name for name in frozenpinn.__all__ if isinstance(getattr(frozenpinn, name), ModuleType)]
    for name in modules:
        module = getattr(frozenpinn, name)
        pages[name] = page(module, {name: names_of(module)}, f"frozenpinn.{name}")
    toc = "\n".join(["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in modules), ""])
    pages["index"] += toc
    for name, text in pages.items():
        file = folder / f"{name}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    return len(top)
