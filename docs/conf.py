"""The documentation site: ``make docs``. Nothing is fetched from the network."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import blocks  # noqa: E402
import gallery_problems  # noqa: E402
import reference  # noqa: E402

import frozenpinn  # noqa: E402

gallery_problems.write(HERE / "gallery")
reference.write(HERE / "reference")

project = "frozenpinn"
author = "the frozenpinn developers"
copyright = f"2026, {author}"
version = release = frozenpinn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery", "**/GALLERY_HEADER.rst"]
myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache", "ref.python"]  # attributes of several classes share their names

autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # "at()" instead of "Problem.at()", which is cut off
napoleon_numpy_docstring, napoleon_google_docstring = True, False
napoleon_use_rtype = napoleon_use_param = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "capture_repr": (),
    "within_subsection_order": gallery_problems.Place,
    "image_scrapers": (gallery_problems.shown,),
    "matplotlib_animations": False,
    "plot_gallery": "True",
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"frozenpinn {release}"
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
}
html_show_sourcelink = False
html_sidebars = {"index": [], "start": [], "tutorials": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]
copybutton_selector = "div:not(.result) > div.highlight > pre"


def _escape_bars(app, what, name, obj, options, lines):
    """Keep |x| from being read as a substitution, outside of code."""
    for k, line in enumerate(lines):
        if "|" in line and not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")
            parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
            lines[k] = "``".join(parts)


def _list_every_page(app, docname, source):
    """Put pages that the menu does not name at its end, so that none is lost."""
    if docname == "guide":
        menus = "".join((HERE / f"{name}.md").read_text(encoding="utf-8") for name in ("index", "guide", "background"))
        missing = [page.stem for page in sorted(HERE.glob("*.md")) if f"\n{page.stem}\n" not in menus]
        pages = "\n".join(name for name in missing if name != "index")
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n" if pages else ""


def _show_results(app, docname, source):
    """Run the blocks of a page, and show below each of them what it prints, draws and writes."""
    page = HERE / f"{docname}.md"
    if page.exists() and str(app.config.plot_gallery) in ("True", "1") and "```python" in source[0]:
        place = f"_static/results/{docname}"
        source[0] = blocks.with_results(page, HERE / place, place)


def setup(app):
    """Connect what is defined here."""
    app.connect("source-read", _show_results)
    app.connect("source-read", _list_every_page)
    app.connect("autodoc-process-docstring", _escape_bars)
