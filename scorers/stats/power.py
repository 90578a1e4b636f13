"""What difference so many units can show: planning a run before paying for it."""

import math

from scipy import optimize, special, stats

POWER = 0.8
ALPHA = 0.05
LMS_SD = 0.197
"""Standard deviation over chains of paired LMS differences, measured on the bundled chains."""
NET_BENEFIT_SD = 0.54
"""Of a chain's net benefit between two models: section 5 of CORDA's definition, width at n = 50."""


def power(difference: float, n: int, sd: float, alpha: float = ALPHA) -> float:
    """Chance that the paired t of n units shows a true mean difference.

    Args:
        difference: True mean of the paired differences.
        n: Units, two at least.
        sd: Standard deviation of the paired differences over units.
        alpha: Two-sided level.
    """
    reach = float(stats.t.ppf(1 - alpha / 2, n - 1))
    shift = difference / sd * math.sqrt(n)
    # the other tail, a difference shown with the wrong sign, is no success
    return 1 - float(special.nctdtr(n - 1, shift, reach))


def detectable(n: int, sd: float, wanted: float = POWER, alpha: float = ALPHA) -> float:
    """The smallest true difference that n units show with the power wanted."""
    near = (stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(wanted)) * sd / math.sqrt(n)
    found = optimize.brentq(lambda d: power(d, n, sd, alpha) - wanted, 0.2 * near, 8 * near)
    return float(found)


def units_needed(difference: float, sd: float, wanted: float = POWER, alpha: float = ALPHA) -> int:
    """The fewest units that show a true difference with the power wanted."""
    low, high = 1, 2
    while power(difference, high, sd, alpha) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if power(difference, middle, sd, alpha) >= wanted else (middle, high)
        )
    return high
