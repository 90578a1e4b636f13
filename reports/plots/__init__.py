"""Figures from finished logs, drawn with matplotlib.

In come runs (`runs/`) and reports; out go PNG and SVG files, or figures inside the page. Open
`catalogue.py` first, which lists them; `canvas.py` is the one file that draws.

Why matplotlib and not inspect-viz (looked at in 0.4.2), which serves notebooks well: its pages fetch
their JavaScript (DuckDB, Mosaic, AG Grid) from a content delivery network when they are opened, its
PNGs come out of a browser that it downloads, and its marks know nothing of intervals over scenarios
or chains. Ours must open without a network and show the intervals of `scorers.stats.bootstrap`.
matplotlib is an optional dependency, imported in `canvas.py` alone, when a figure is drawn.
"""
