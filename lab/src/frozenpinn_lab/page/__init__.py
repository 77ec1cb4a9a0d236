"""The report of a benchmark run: one HTML file with everything inside, and the picture of the README."""

from __future__ import annotations

from frozenpinn_lab.page.machine import describe_machine, origin_of
from frozenpinn_lab.page.overview import draw_work_precision
from frozenpinn_lab.page.page import render_report, write_report
from frozenpinn_lab.page.results import Results

__all__ = ["Results", "describe_machine", "draw_work_precision", "origin_of", "render_report", "write_report"]
