"""The power table: what difference so many units show."""

import numpy as np
import pytest
from scipy import stats

from moral_evals.scorers.stats.power import LMS_SD, POWER, detectable, power, units_needed


@pytest.mark.parametrize(("n", "shown"), [(52, 0.079), (124, 0.05), (340, 0.03)])
def test_measured_chains_show_what_was_measured(n, shown):
    assert detectable(n, LMS_SD) == pytest.approx(shown, abs=0.0012)


@pytest.mark.parametrize(("n", "difference"), [(10, 0.2), (30, 0.1), (100, 0.05)])
def test_power_is_the_share_of_simulated_sets_with_a_small_p(n, difference):
    d = np.random.default_rng(n).normal(difference, LMS_SD, (4000, n))
    p = stats.ttest_1samp(d, 0, axis=1)
    found = np.mean((p.pvalue < 0.05) & (p.statistic > 0))
    assert power(difference, n, LMS_SD) == pytest.approx(found, abs=0.025)


@pytest.mark.parametrize("n", [2, 10, 52, 500])
def test_what_is_detectable_has_just_the_power(n):
    assert power(detectable(n, 0.3), n, 0.3) == pytest.approx(POWER)
    assert units_needed(detectable(n, 0.3) + 1e-9, 0.3) == n
