"""CMDPs: exact values by other formulations, copies and files."""

import copy
import os
import pickle
import zipfile

import numpy as np
import pytest

from pgpd_hf import CMDP
from reference import induced, random_policies, random_process, resolvent, values

ARRAYS = ("transition", "reward", "utility", "initial")
NAMES = (*ARRAYS, "discount", "threshold", "scale")
GOOD = {name: getattr(random_process(1), name) for name in NAMES}
every_size = pytest.mark.parametrize(
    ("states", "actions"), [(1, 1), (1, 4), (5, 3), (10, 4), (32, 2), (33, 2), (40, 3)]
)


@every_size
@pytest.mark.parametrize("discount", [0.0, 0.9])
@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_values_are_those_of_a_power_series(states, actions, discount, scale):
    """No linear algebra: rewards of step t under the distribution of step t."""
    cmdp = random_process(2, states, actions, discount, scale=scale)
    policies = random_policies(3, cmdp, 5, 7)
    found = np.stack(cmdp.evaluate(policies), axis=-1)
    assert found.shape == (5, 7, 2)
    for index in np.ndindex(5, 7):  # no policy notices the others, bit for bit
        assert (found[index] == cmdp.evaluate(policies[index])).all()
    np.testing.assert_allclose(found[3, 4], values(cmdp, policies[3, 4]), rtol=1e-12)
    assert cmdp.value_bound == pytest.approx(scale / (1 - discount))
    for horizon in (0, 1, 80):
        total = scale * sum(discount**t for t in range(horizon + 1))
        assert cmdp.return_bound(horizon) == pytest.approx(total, rel=1e-13)


@every_size
def test_other_values_satisfy_bellman_flow_and_the_performance_difference_lemma(states, actions):
    cmdp = random_process(7, states, actions, 0.9)
    policy, other = random_policies(7, cmdp, 2)
    signal = cmdp.reward + 0.7 * cmdp.utility
    v, q = cmdp.state_values(policy, signal), cmdp.action_values(policy, signal)
    np.testing.assert_allclose(v, resolvent(cmdp, policy) @ (policy * signal).sum(1), rtol=1e-12)
    np.testing.assert_allclose(q, signal + 0.9 * cmdp.transition @ v, rtol=1e-12)
    advantages, visits = cmdp.advantages(policy, signal), cmdp.occupancy(other)
    np.testing.assert_allclose(advantages, q - v[:, None], atol=1e-13)
    assert visits.sum() == pytest.approx(10, rel=1e-12)
    inflow = cmdp.initial + 0.9 * visits @ induced(cmdp, other)
    np.testing.assert_allclose(visits, inflow, rtol=1e-12)
    gained = (values(cmdp, other) - values(cmdp, policy)) @ [1, 0.7]
    assert gained == pytest.approx((visits[:, None] * other * advantages).sum(), abs=1e-12)


def test_copies_and_files_are_the_same_and_nobody_can_change_them(tmp_path):
    parts = {name: np.array(GOOD[name]) for name in ARRAYS}
    cmdp = CMDP(**GOOD | parts)
    parts["reward"][:] = 7
    cmdp.save(tmp_path / "cmdp.npz")
    again = CMDP.load(tmp_path / "cmdp.npz")
    for other in (cmdp, again, copy.deepcopy(cmdp), pickle.loads(pickle.dumps(cmdp))):
        for name in GOOD:
            np.testing.assert_array_equal(getattr(other, name), GOOD[name], strict=True)
        assert not any(getattr(other, name).flags.writeable for name in ARRAYS)


class Trap:
    """An object that leaves a trace where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path.parent / "trace"),)


def write_pickle_in_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        for name in GOOD:
            archive.writestr(f"{name}.npy", pickle.dumps(Trap(path)))


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: path.write_bytes(pickle.dumps(Trap(path))), "damaged"),
        (lambda path: np.savez(path, **GOOD | {"reward": np.array([Trap(path)])}), "damaged"),
        (write_pickle_in_archive, "transition: "),
        (lambda path: path.write_bytes(b"PK\x03\x04 cut off"), "damaged"),
        (lambda path: np.savez(path, **GOOD, gamma=0.9), "arrays .* expected: .*'gamma'"),
        (lambda path: np.savez(path, transition=1), "arrays .* expected: .*'reward'"),
        (lambda path: np.savez(path, **GOOD | {"discount": 1.0}), "discount: "),
    ],
)
def test_file_that_is_no_cmdp_is_refused_and_never_executed(tmp_path, write, message):
    write(tmp_path / "p.npz")
    with pytest.raises(ValueError, match=rf"p\.npz: {message}"):
        CMDP.load(tmp_path / "p.npz")
    assert not (tmp_path / "trace").exists()
