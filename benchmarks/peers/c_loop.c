/* A straightforward C program: one trajectory after the other, one step at a time, linear search in
   cumulative sums, one random number per choice and per vote. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const double *transition; /* (S, A, S) */
    const double *reward;     /* (S, A) */
    const double *utility;    /* (S, A) */
    const double *initial;    /* (S,) */
    int natural;              /* NPGPD-HF, else ZPGPD-HF */
    int states, actions, evaluators, rounds, horizon;
    double discount, threshold, bound;
    double primal_step, dual_step, multiplier_bound, perturbation;
} Task;

/* xoshiro256++ (Blackman and Vigna 2021), seeded by SplitMix64 */

typedef struct {
    uint64_t s[4];
} Random;

static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static uint64_t next(Random *r) {
    uint64_t *s = r->s, result = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

static double uniform(Random *r) { return (next(r) >> 11) * 0x1.0p-53; }

static void seed_random(Random *r, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        r->s[i] = z ^ (z >> 31);
    }
}

static double normal(Random *r) { /* Marsaglia's polar method; the second number is dropped */
    double x, y, q;
    do {
        x = 2 * uniform(r) - 1;
        y = 2 * uniform(r) - 1;
        q = x * x + y * y;
    } while (q >= 1 || q == 0);
    return x * sqrt(-2 * log(q) / q);
}

static int search(const double *cumulative, int n, double u) {
    int k = 0;
    while (k < n - 1 && u >= cumulative[k]) k++;
    return k;
}

static void accumulate(const double *p, double *cumulative, int rows, int n) {
    for (int i = 0; i < rows; i++) {
        double total = 0;
        for (int k = 0; k < n; k++) cumulative[i * n + k] = total += p[i * n + k];
    }
}

/* Policies */

static void softmax(const double *theta, double *policy, int rows, int n) {
    for (int i = 0; i < rows; i++) {
        double largest = theta[i * n], total = 0;
        for (int k = 1; k < n; k++) largest = fmax(largest, theta[i * n + k]);
        for (int k = 0; k < n; k++) total += policy[i * n + k] = exp(theta[i * n + k] - largest);
        for (int k = 0; k < n; k++) policy[i * n + k] /= total;
    }
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void project(double *theta, double *sorted, int rows, int n) {
    for (int i = 0; i < rows; i++) {
        double *row = theta + i * n, total = -1, shift = 0;
        memcpy(sorted, row, n * sizeof(double));
        qsort(sorted, n, sizeof(double), descending);
        for (int k = 0; k < n; k++) {
            total += sorted[k];
            if (sorted[k] > total / (k + 1)) shift = total / (k + 1);
        }
        for (int k = 0; k < n; k++) row[k] = fmax(row[k] - shift, 0);
    }
}

/* Exact values: Gaussian elimination with partial pivoting for the state occupancy */

static void exact_values(const Task *task, const double *policy, double *m, double *q, double *out) {
    int S = task->states, A = task->actions;
    for (int s = 0; s < S; s++) {
        q[s] = task->initial[s];
        for (int z = 0; z < S; z++) m[z * S + s] = z == s;
        for (int a = 0; a < A; a++)
            for (int z = 0; z < S; z++)
                m[z * S + s] -= task->discount * policy[s * A + a] *
                                task->transition[(s * A + a) * S + z];
    }
    for (int p = 0; p < S; p++) {
        int best = p;
        for (int i = p + 1; i < S; i++)
            if (fabs(m[i * S + p]) > fabs(m[best * S + p])) best = i;
        if (best != p) {
            for (int j = 0; j < S; j++) {
                double swap = m[p * S + j];
                m[p * S + j] = m[best * S + j];
                m[best * S + j] = swap;
            }
            double swap = q[p];
            q[p] = q[best];
            q[best] = swap;
        }
        for (int i = p + 1; i < S; i++) {
            double factor = m[i * S + p] / m[p * S + p];
            for (int j = p + 1; j < S; j++) m[i * S + j] -= factor * m[p * S + j];
            q[i] -= factor * q[p];
        }
    }
    for (int i = S - 1; i >= 0; i--) {
        for (int j = i + 1; j < S; j++) q[i] -= m[i * S + j] * q[j];
        q[i] /= m[i * S + i];
    }
    out[0] = out[1] = 0;
    for (int i = 0; i < S * A; i++) {
        out[0] += q[i / A] * policy[i] * task->reward[i];
        out[1] += q[i / A] * policy[i] * task->utility[i];
    }
}

/* Trajectories and votes */

static void sample(const Task *task, Random *r, const double *cumulative_policy,
                   const double *cumulative_transition, int s, int a, double *returns) {
    double weight = 1;
    returns[0] = returns[1] = 0;
    for (int t = 0; t <= task->horizon; t++) {
        if (a < 0) a = search(cumulative_policy + s * task->actions, task->actions, uniform(r));
        int pair = s * task->actions + a;
        returns[0] += weight * task->reward[pair];
        returns[1] += weight * task->utility[pair];
        s = search(cumulative_transition + pair * task->states, task->states, uniform(r));
        a = -1;
        weight *= task->discount;
    }
}

static double ask(const Task *task, Random *r, double difference) {
    double chance = 1 / (1 + exp(-difference)), lowest = 1 / (1 + exp(task->bound));
    int votes = 0;
    for (int m = 0; m < task->evaluators; m++) votes += uniform(r) < chance;
    double frequency = fmin(fmax((double)votes / task->evaluators, lowest), 1 - lowest);
    return log(frequency / (1 - frequency));
}

/* Runs one seed; trace is (iterations + 1, 3): reward value, utility value, multiplier. */

void run(const Task *task, uint64_t seed, int iterations, double *trace) {
    int S = task->states, A = task->actions, N = task->rounds, size = S * A;
    double *theta = malloc(size * sizeof(double)), *policy = malloc(size * sizeof(double)),
           *direction = malloc(size * sizeof(double)), *perturbed = malloc(size * sizeof(double)),
           *cumulative_policy = malloc(size * sizeof(double)),
           *cumulative_perturbed = malloc(size * sizeof(double)),
           *cumulative_transition = malloc((size_t)size * S * sizeof(double)),
           *cumulative_initial = malloc(S * sizeof(double)),
           *matrix = malloc((size_t)S * S * sizeof(double)), *occupancy = malloc(S * sizeof(double)),
           *sorted = malloc(A * sizeof(double)), *from_state = malloc(2 * S * sizeof(double));
    Random r;
    seed_random(&r, seed);
    accumulate(task->transition, cumulative_transition, size, S);
    accumulate(task->initial, cumulative_initial, 1, S);
    for (int i = 0; i < size; i++) theta[i] = task->natural ? 0 : 1.0 / A;
    double multiplier = 0;
    for (int t = 0;; t++) {
        if (task->natural)
            softmax(theta, policy, S, A);
        else
            memcpy(policy, theta, size * sizeof(double));
        exact_values(task, policy, matrix, occupancy, trace + 3 * t);
        trace[3 * t + 2] = multiplier;
        if (t == iterations) break;
        accumulate(policy, cumulative_policy, S, A);
        double excess = 0;
        if (task->natural) { /* NPGPD-HF: compare a trajectory from every (s, a) with one from s */
            double step = task->primal_step / (1 - task->discount) / N;
            for (int n = 0; n < N; n++) {
                double returns[2];
                for (int s = 0; s < S; s++)
                    sample(task, &r, cumulative_policy, cumulative_transition, s, -1,
                           from_state + 2 * s);
                for (int s = 0; s < S; s++)
                    for (int a = 0; a < A; a++) {
                        sample(task, &r, cumulative_policy, cumulative_transition, s, a, returns);
                        double reward = ask(task, &r, returns[0] - from_state[2 * s]);
                        double utility = ask(task, &r, returns[1] - from_state[2 * s + 1]);
                        theta[s * A + a] += step * (reward + multiplier * utility);
                    }
                int first = search(cumulative_initial, S, uniform(&r));
                sample(task, &r, cumulative_policy, cumulative_transition, first, -1, returns);
                excess += ask(task, &r, returns[1] - task->threshold) / N;
            }
        } else { /* ZPGPD-HF: compare trajectories of a randomly perturbed policy with the policy's */
            double squares = 0, slope = 0;
            for (int i = 0; i < size; i++) {
                direction[i] = normal(&r);
                squares += direction[i] * direction[i];
            }
            for (int i = 0; i < size; i++) {
                direction[i] /= sqrt(squares);
                perturbed[i] = theta[i] + task->perturbation * direction[i];
            }
            project(perturbed, sorted, S, A);
            accumulate(perturbed, cumulative_perturbed, S, A);
            for (int n = 0; n < N; n++) {
                double base[2], other[2];
                int first = search(cumulative_initial, S, uniform(&r));
                sample(task, &r, cumulative_policy, cumulative_transition, first, -1, base);
                sample(task, &r, cumulative_perturbed, cumulative_transition, first, -1, other);
                slope += ask(task, &r, other[0] - base[0]) / N;
                slope += multiplier * ask(task, &r, other[1] - base[1]) / N;
                excess += ask(task, &r, base[1] - task->threshold) / N;
            }
            slope *= size / task->perturbation;
            for (int i = 0; i < size; i++) theta[i] += task->primal_step * slope * direction[i];
            project(theta, sorted, S, A);
        }
        multiplier = fmin(fmax(multiplier - task->dual_step * excess, 0), task->multiplier_bound);
    }
    free(theta), free(policy), free(direction), free(perturbed), free(cumulative_policy);
    free(cumulative_perturbed), free(cumulative_transition), free(cumulative_initial);
    free(matrix), free(occupancy), free(sorted), free(from_state);
}
