"""Properties that hold for all inputs, on examples that Hypothesis looks for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference
from pgpd_hf import policies

real = st.floats(-1e3, 1e3, allow_nan=False)
thetas = arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=real)


@given(thetas, st.sampled_from([1e-6, 1e-3, 1.0]), real)
def test_policies_are_those_of_the_slow_version_and_of_every_shift(theta, scale, shift):
    theta, forms = theta * scale, {"project_rows": reference.project, "softmax": reference.softmax}
    for name, slow in forms.items():
        policy, moved = np.empty_like(theta), theta + shift
        getattr(policies, name)(theta, policy)
        np.testing.assert_allclose(policy.sum(1), 1, atol=1e-12)
        np.testing.assert_allclose(policy, slow(theta), atol=1e-12)
        getattr(policies, name)(moved, moved)  # in place
        np.testing.assert_allclose(moved, policy, atol=1e-11)
