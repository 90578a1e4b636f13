"""The p-value as a type, so that every table prints it by one rule."""

import math

SMALLEST_SHOWN = 0.001


class PValue(float):
    """A p-value; as text it is never 0.000, and a dash where nothing was tested."""

    def __str__(self) -> str:
        """Three decimals, a bound where these would be zeros."""
        if math.isnan(self):
            return "–"
        if self < SMALLEST_SHOWN:
            return f"<{SMALLEST_SHOWN:g}"
        return format(float(self), ".3f")


NOT_TESTED = PValue(math.nan)
