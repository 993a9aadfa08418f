/* How fast trajectories can be sampled: 64 of them in lockstep, with AVX-512 and in single precision.
   A step is the choice of an action and a next state, both discounted sums, and two random numbers of
   32 bits. There are no votes, no updates and no evaluation. */

#include <immintrin.h>
#include <stdint.h>

enum { VECTORS = 4, LANES = 16 }; /* 64 trajectories */

typedef struct {
    const uint32_t *cumulative; /* (S, A): of the policy, in units of 2^-32 */
    const uint32_t *keep;       /* (S A, S): alias tables, probability of keeping a column */
    const int32_t *alias;       /* (S A, S) */
    const float *reward;        /* (S, A) */
    const float *utility;       /* (S, A) */
    int states, actions, steps;
    float discount;
} Model;

static inline __m512i xorshift(__m512i x) { /* Marsaglia 2003 */
    x = _mm512_xor_si512(x, _mm512_slli_epi32(x, 13));
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 17));
    return _mm512_xor_si512(x, _mm512_slli_epi32(x, 5));
}

/* `random` holds two states of the generator for each trajectory, none of them zero. Adds the sums of
   all trajectories to `totals`; every group of 64 starts evenly over the states. */
void sample(const Model *model, uint32_t *random, long groups, double *totals) {
    const __m512i actions = _mm512_set1_epi32(model->actions);
    const __m512i states = _mm512_set1_epi32(model->states);
    const __m512i one = _mm512_set1_epi32(1);
    __m512i x[VECTORS], y[VECTORS], at[VECTORS];
    __m512 reward[VECTORS], utility[VECTORS];
    for (int k = 0; k < VECTORS; k++) {
        x[k] = _mm512_loadu_si512(random + 2 * k * LANES);
        y[k] = _mm512_loadu_si512(random + (2 * k + 1) * LANES);
    }
    for (long group = 0; group < groups; group++) {
        for (int k = 0; k < VECTORS; k++) {
            int32_t start[LANES];
            for (int i = 0; i < LANES; i++) start[i] = (k * LANES + i) % model->states;
            at[k] = _mm512_loadu_si512(start);
            reward[k] = utility[k] = _mm512_setzero_ps();
        }
        float weight = 1;
        for (int t = 0; t < model->steps; t++) {
            const __m512 weights = _mm512_set1_ps(weight);
            for (int k = 0; k < VECTORS; k++) {
                x[k] = xorshift(x[k]);
                y[k] = xorshift(y[k]);
                /* The action: how many cumulative probabilities x has reached. */
                const __m512i first = _mm512_mullo_epi32(at[k], actions);
                __m512i pair = first;
                for (int a = 0; a < model->actions - 1; a++) {
                    const __m512i cut = _mm512_i32gather_epi32(first, model->cumulative + a, 4);
                    pair = _mm512_mask_add_epi32(pair, _mm512_cmpge_epu32_mask(x[k], cut), pair, one);
                }
                reward[k] = _mm512_fmadd_ps(
                    weights, _mm512_i32gather_ps(pair, model->reward, 4), reward[k]);
                utility[k] = _mm512_fmadd_ps(
                    weights, _mm512_i32gather_ps(pair, model->utility, 4), utility[k]);
                /* The next state: the upper half of S y is the column, the lower half the rest. */
                const __m512i even = _mm512_mul_epu32(y[k], states);
                const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(y[k], 32), states);
                const __m512i column =
                    _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
                const __m512i rest =
                    _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
                const __m512i entry =
                    _mm512_add_epi32(_mm512_mullo_epi32(pair, states), column);
                const __m512i keep = _mm512_i32gather_epi32(entry, model->keep, 4);
                const __m512i alias = _mm512_i32gather_epi32(entry, model->alias, 4);
                const __mmask16 keeps = _mm512_cmplt_epu32_mask(rest, keep);
                at[k] = _mm512_mask_blend_epi32(keeps, alias, column);
            }
            weight *= model->discount;
        }
        for (int k = 0; k < VECTORS; k++) {
            totals[0] += _mm512_reduce_add_ps(reward[k]);
            totals[1] += _mm512_reduce_add_ps(utility[k]);
        }
    }
    for (int k = 0; k < VECTORS; k++) {
        _mm512_storeu_si512(random + 2 * k * LANES, x[k]);
        _mm512_storeu_si512(random + (2 * k + 1) * LANES, y[k]);
    }
}
