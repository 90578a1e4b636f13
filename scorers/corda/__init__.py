"""From the options chosen along chains to figures with intervals.

In come rollouts (chosen options, tier values, a tier order); out go statistics over chains and
all figures of a run by name. Open `order.py` first, then `table.py` and `metrics.py`.
"""
