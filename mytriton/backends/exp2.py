"""2**x of f32 for backends whose own is too inexact: the GPU's instruction `ex2.approx` is off by up to 2.1 ULP.

2**x = 2**k * 2**f with k = round(x), |f| <= 1/2, which is exact, and 2**f = 1 + f * p(f), p of degree 5, a minimax fit
made for this file; at most 0.92 ULP off. 2**k is multiplied in two halves, so that results round once where they become
denormal or infinite. Beyond `LOWEST` and `HIGHEST` nothing but 0 and infinity is left.
"""

from __future__ import annotations

#: p's coefficients, lowest first, exact in f32.
COEFFICIENTS = (
    0.6931471824645996,
    0.24022647738456726,
    0.05550333857536316,
    0.009618418291211128,
    0.0013398436130955815,
    0.00015357918164227158,
)
LOWEST, HIGHEST = -151.0, 129.0
