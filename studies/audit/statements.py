"""The paper's lemmas and theorems, and two corrections, as rows of bounds.csv.

A statement has a number and the letter of its part, its label and the line where it begins in the
paper's LaTeX source, and what it says in short. Of the corrected theorems the line is that of the
printed one. The finding is `sound`; `incomplete`, as is the proof or the proof of a statement that
it relies on; or `false` as printed. README.md has the tests that show it.
"""

from typing import NamedTuple

INCOMPLETE, FALSE = "incomplete", "false"


class Statement(NamedTuple):
    """A statement of the paper, or a part of it."""

    item: int
    part: str  # empty if there is one part only
    label: str
    line: int
    text: str
    finding: str = "sound"


_STATEMENTS = [
    (1, "a", "Lemma:finite horizon value", 723, "|V^H - V| <= eps_V"),
    (1, "b", "Lemma:RVRQ", 761, "|E R^H(tau(s,a)) - Q| <= eps_V"),
    (1, "c", "Lemma:bias of fhr", 805, "|E mean R^H - V(rho)| <= eps_V"),
    (2, "", "Lemma:var of fh", 868, "E|mean R^H - V_g(rho)|^2 <= sigma_1"),
    (3, "a", "Lemma:human_feedback_bias_var", 963, "E|answer - Delta| <= beta"),
    (3, "b", "Lemma:human_feedback_bias_var", 975, "E|answer - Delta|^2 <= 2L^2 log M/M + .."),
    (3, "c", "Lemma:sigmac", 994, "E|answer - (R - b)| <= beta"),
    (3, "d", "Lemma:sigmac", 1004, "E|answer - (R - b)|^2 <= 2L^2 log M/M + .."),
    (4, "", "Lemma:smoothness", 1034, "grad V is L'-Lipschitz"),
    (5, "a", "Lemma:zeroth", 1050, "E[(d/mu)(V(theta+mu v) - V(theta)) v] = grad V^mu"),
    (5, "b", "Lemma:zeroth", 1055, "|V^mu - V| <= L' mu^2/2"),
    (5, "c", "Lemma:zeroth", 1060, "|grad V^mu - grad V| <= mu L' d/2"),
    (5, "d", "Lemma:zeroth", 1065, "E|(d/mu)(V(theta+mu v) - V) v|^2 <= 2d|grad|^2.."),
    (6, "", "Lemma:constraint_violation", 1076, "V* - V + C[b - V_g]+ <= d => [.]+ <= 2d/C"),
    (7, "", "Lemma:bias hc", 1089, "|E[V_g - b - h_c]| <= eps_c"),
    (8, "", "Lemma:overall", 1148, "|E[grad V - h]| <= eps_rg", INCOMPLETE),
    (9, "", "Lemma:var hc", 1247, "E h_c^2 <= sigma_2^2"),
    (10, "", "Lemma:lambda", 1280, "-avg E lambda (V_g* - V_g) <= sigma eps_c + eta2 s2^2/2"),
    (11, "", "Lemma:FLambda", 1369, "avg E gap of the Lagrangian <= 2DL/T^(1/4) + ..", FALSE),
    (12, "a", "thm2", 1637, "ZPGPD-HF: avg E gap <= ..", FALSE),
    (12, "b", "thm2", 1757, "ZPGPD-HF: E[b - avg V_g]+ <= .. (as printed)", FALSE),
    (12, "c", "thm2", 1757, "ZPGPD-HF: E[b - avg V_g]+ <= .. + 4 eps_c", FALSE),
    (14, "", "Lemma:bias advantage", 1817, "|E[A_hat - A]| <= eps_A"),
    (
        15,
        "",
        "Lemma:nonmonotone",
        1878,
        "(1-g)/eta1 E log Z - dV_L <= (1+sigma) eps_A/(1-g)",
        FALSE,
    ),
    (16, "", "Lemma:bounded_avg_perf", 1953, "avg E gap of the Lagrangian <= ..", FALSE),
    (17, "a", "thm1", 2048, "NPGPD-HF: avg E gap <= ..", FALSE),
    (17, "b", "thm1", 2141, "NPGPD-HF: E[b - avg V_g]+ <= .. (as printed)", FALSE),
    (17, "c", "thm1", 2141, "NPGPD-HF: E[b - avg V_g]+ <= .. + 4 eps_c", FALSE),
    (19, "a", "thm1", 457, "Theorem 1 corrected: avg E gap <= .."),
    (19, "b", "thm1", 457, "Theorem 1 corrected: E[b - avg V_g]+ <= .."),
    (23, "a", "thm2", 546, "Theorem 2 corrected: avg E gap <= .."),
    (23, "b", "thm2", 546, "Theorem 2 corrected: E[b - avg V_g]+ <= .."),
]
STATEMENTS = {f"{row[0]}{row[1]}": Statement(*row) for row in _STATEMENTS}
