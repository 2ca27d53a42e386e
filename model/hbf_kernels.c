/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the shape of a model to its weight kernels: pages, grid, ideal time.
 *
 * Pages are exact: K N bits / 8 / page bytes.  The grid law (tile width and
 * split-K) reproduces 27 of the 35 grids of SlipStream's Table II; the time law
 * has a logarithmic error of 13 % there.  Both were chosen with that table in
 * view.  Measured launches, where given, take their place.
 */
#include <math.h>

#include "hbf_private.h"

/* Output columns of the two tile shapes in use. */
static const double narrow_tile = 128, wide_tile = 256;

struct grid {
    double tile_columns, ctas;
};

/* Share of the SM slots that a grid of `tiles` tiles keeps busy. */
static double wave_efficiency(double tiles, double sms)
{
    return tiles / (round_up(tiles / sms) * sms);
}

/* Tile width and CTAs that a GEMM library takes for K x N with few rows: wide
 * tiles when they fill the waves better (or fit one wave), split-K when there
 * are fewer tiles than SMs, wide tiles again when K is long enough to split. */
static struct grid choose_grid(double k, double n, double sms)
{
    const double narrow = round_up(n / narrow_tile), wide = round_up(n / wide_tile);
    bool is_wide;
    if (narrow <= sms) {
        is_wide = k > 2.0 * n;
    } else {
        const double gain = wave_efficiency(wide, sms) - wave_efficiency(narrow, sms);
        is_wide = fabs(gain) < 1e-9 ? wide <= sms : gain > 0.0;
    }
    const double tiles = is_wide ? wide : narrow;
    return (struct grid){ .tile_columns = is_wide ? wide_tile : narrow_tile,
                          .ctas = tiles * larger(1.0, round_down(sms / tiles)) };
}

/* A kernel before it meets a machine: one GEMM, or for QKV three that run
 * side by side (k_side x n_side is one of the two narrow ones). */
struct gemm {
    double k, n, n_side;
    double elements; /* weights in all, where not k (n + 2 n_side) */
    double tokens;   /* rows that multiply each weight */
};

/* Pages on the most loaded SM. */
static double heaviest_pages(const struct gemm *gemm, const struct grid *main_grid, double pages,
                             double sms, double ctas)
{
    if (!(gemm->n_side > 0.0))
        return pages / ctas * round_up(ctas / sms);
    const double main_pages = pages * gemm->n / (gemm->n + 2.0 * gemm->n_side);
    return main_pages / main_grid->ctas * round_up(main_grid->ctas / sms) +
           (pages - main_pages) / sms;
}

/* Time beyond launch and latency: the root of summed squares of the time that
 * bandwidth takes and the time that the most loaded SM takes. */
static double law_time(const struct sc_hbf *s, const struct gemm *gemm, double pages, double sms,
                       double bandwidth_bytes_per_s, double ctas)
{
    const double bandwidth = bandwidth_bytes_per_s / s->page_bytes;
    const struct grid main_grid = choose_grid(gemm->k, gemm->n, sms);
    const double heavy = heaviest_pages(gemm, &main_grid, pages, sms, ctas);
    const double per_sm = bandwidth / sms *
                          (main_grid.tile_columns == wide_tile ? s->grid_rate_wide : s->grid_rate);
    const double transfer_s = pages / (s->grid_efficiency * bandwidth);
    const double sm_s = heavy / per_sm;
    return sqrt(transfer_s * transfer_s + sm_s * sm_s); /* no overflow: seconds */
}

static void set_ideal_time(const struct sc_hbf *s, const struct gemm *gemm,
                           const struct sc_hbf_launch *launch, struct sc_hbf_kernel *kernel)
{
    const double fixed_s = s->launch_s + s->hbm_latency_s;
    const double hbf_rate = s->hbf_bandwidth_bytes_per_s / s->page_bytes;
    double law_s;
    if (kernel->persistent)
        law_s = kernel->pages * s->page_bytes /
                (s->persistent_efficiency * s->hbm_bandwidth_bytes_per_s);
    else
        law_s = law_time(s, gemm, kernel->pages, s->sms, s->hbm_bandwidth_bytes_per_s,
                         kernel->ctas);

    double transfer_s = law_s;
    if (!isnan(launch->time_s)) {
        /* A measured time carries over to another machine by the ratio of the
         * law there to the law here; on its own machine it stands as it is. */
        transfer_s = larger(launch->time_s - fixed_s, 0.0);
        if (!isnan(s->reference_sms) && !kernel->persistent)
            transfer_s *= law_s / law_time(s, gemm, kernel->pages, s->reference_sms,
                                           isnan(s->reference_bandwidth_bytes_per_s)
                                               ? s->hbm_bandwidth_bytes_per_s
                                               : s->reference_bandwidth_bytes_per_s,
                                           kernel->ctas);
    }
    /* However few the SMs, each waits for its window of pages once per latency. */
    if (!kernel->persistent) {
        const struct grid grid = choose_grid(gemm->k, gemm->n, s->sms);
        const double window = larger(1.0, s->demand_window_bytes / s->page_bytes) *
                              grid.tile_columns / narrow_tile;
        transfer_s = larger(transfer_s, heaviest_pages(gemm, &grid, kernel->pages, s->sms,
                                                       kernel->ctas) /
                                            window * s->hbm_latency_s);
    }
    const double flash_s = kernel->pages / hbf_rate;
    const double weights = kernel->pages * s->page_bytes * 8.0 / s->dtype_bits;
    const double compute_s = isnan(s->peak_flops) ? 0.0
                                                  : 2.0 * weights * gemm->tokens /
                                                        (s->peak_flops * s->compute_efficiency);
    kernel->compute_s = compute_s;
    kernel->bound = compute_s > larger(transfer_s, flash_s) ? "compute"
                    : flash_s * 1.05 > transfer_s         ? "flash bandwidth"
                                                          : "SM demand";
    kernel->ideal_s = fixed_s + larger(transfer_s, larger(flash_s, compute_s));
}

/* How many of the CTAs belong to the two side GEMMs.  Of a measured grid only the
 * sum is known: the main GEMM gets the most split-K slices that leave the sides
 * whole multiples of their tiles. */
static double side_ctas(const struct gemm *gemm, const struct grid *main_grid, double ctas, double sms)
{
    const double tiles = round_up(gemm->n / main_grid->tile_columns);
    const double side_tiles = 2.0 * round_up(gemm->n_side / narrow_tile);
    for (double split = larger(1.0, round_down(sms / tiles)); split >= 1.0; split -= 1.0) {
        const double rest = ctas - split * tiles;
        if (rest > 0.0 && rest == side_tiles * round_down(rest / side_tiles))
            return rest;
    }
    return 0.0;
}

static void add_kernel(const struct sc_hbf *s, size_t id, const struct gemm *gemm,
                       double multiplicity, struct sc_hbf_kernel *kernels, size_t *count)
{
    static const char *const names[SC_HBF_KERNELS] = { "qkv",  "o",       "gate",   "up",
                                                       "down", "experts", "shared", "lm_head" };
    const double elements = gemm->elements > 0.0 ? gemm->elements
                                                 : gemm->k * (gemm->n + 2.0 * gemm->n_side);
    if (!(elements > 0.0) || !(multiplicity > 0.0))
        return;
    struct sc_hbf_kernel *kernel = &kernels[(*count)++];
    const struct grid grid = choose_grid(gemm->k, gemm->n, s->sms);
    const struct sc_hbf_launch *launch = &s->launch[id];
    *kernel = (struct sc_hbf_kernel){
        .name = names[id],
        .pages = elements * s->dtype_bits / 8.0 / s->page_bytes,
        .ctas = grid.ctas,
        .tile_columns = grid.tile_columns,
        .multiplicity = multiplicity,
        .persistent = id == SC_HBF_EXPERTS,
    };
    if (kernel->persistent)
        kernel->ctas = s->sms;
    else if (gemm->n_side > 0.0)
        kernel->ctas += 2.0 * choose_grid(gemm->k, gemm->n_side, s->sms).ctas;
    if (!isnan(launch->ctas))
        kernel->ctas = launch->ctas;
    kernel->ctas = smaller(kernel->ctas, round_up(kernel->pages)); /* a CTA reads at least a page */
    if (gemm->n_side > 0.0) {
        kernel->side_ctas = side_ctas(gemm, &grid, kernel->ctas, s->sms);
        kernel->side_pages = kernel->side_ctas > 0.0
                                 ? kernel->pages * 2.0 * gemm->n_side / (gemm->n + 2.0 * gemm->n_side)
                                 : 0.0;
    }
    set_ideal_time(s, gemm, launch, kernel);
}

double sc_hbf_distinct_experts(const struct sc_hbf *s)
{
    if (!(s->experts > 0.0))
        return 0.0;
    /* Tokens of a batch agree in part, so they count as batch^exponent
     * independent draws of experts_per_token out of experts. */
    const double draws = pow(sc_hbf_tokens(s), s->routing_exponent);
    return s->experts * -expm1(draws * log1p(-smaller(s->experts_per_token / s->experts, 1.0 - 1e-12)));
}

double sc_hbf_tokens(const struct sc_hbf *s)
{
    return s->phase == SC_HBF_PREFILL ? s->prompt_tokens : s->batch;
}

double sc_hbf_head_dim(const struct sc_hbf *s)
{
    return isnan(s->head_dim) ? s->hidden / s->heads : s->head_dim;
}

static struct gemm qkv_gemm(const struct sc_hbf *s, double tokens)
{
    const double head_dim = sc_hbf_head_dim(s);
    const double heads = round_up(s->heads / s->tensor_parallel);
    const double kv_heads = round_up(s->kv_heads / s->tensor_parallel);
    struct gemm gemm = { .k = s->hidden, .n = heads * head_dim, .n_side = kv_heads * head_dim,
                         .tokens = tokens };
    if (s->attention == SC_HBF_MLA) {
        /* Latent attention: the down projections are replicated on every rank. */
        const double query = s->q_lora > 0.0
                                 ? s->hidden * s->q_lora + s->q_lora * heads * (head_dim + SC_HBF_MLA_ROPE_DIM)
                                 : s->hidden * heads * (head_dim + SC_HBF_MLA_ROPE_DIM);
        gemm.n_side = 0.0;
        gemm.elements = query + s->hidden * (s->kv_lora + SC_HBF_MLA_ROPE_DIM) +
                        s->kv_lora * heads * 2.0 * head_dim;
    }
    return gemm;
}

size_t sc_hbf_kernels(const struct sc_hbf *s, struct sc_hbf_kernel kernels[SC_HBF_KERNELS])
{
    const double tokens = sc_hbf_tokens(s), shard = s->tensor_parallel;
    const bool is_moe = s->experts > 0.0;
    const double dense_layers = !is_moe ? s->layers : isnan(s->dense_layers) ? 0.0 : s->dense_layers;
    const double moe_layers = s->layers - dense_layers;
    const double attention = s->part == SC_HBF_PART_FFN ? 0.0 : s->layers;
    const double ffn = s->part == SC_HBF_PART_ATTENTION ? 0.0 : 1.0;
    size_t count = 0;

    const struct gemm qkv = qkv_gemm(s, tokens);
    add_kernel(s, SC_HBF_QKV, &qkv, attention, kernels, &count);
    const struct gemm o = { .k = qkv.n, .n = s->hidden, .tokens = tokens };
    add_kernel(s, SC_HBF_O, &o, attention, kernels, &count);

    const struct gemm up = { .k = s->hidden, .n = round_up(s->ffn / shard), .tokens = tokens };
    const struct gemm down = { .k = up.n, .n = up.k, .tokens = tokens };
    if (s->ffn_matrices >= 3.0)
        add_kernel(s, SC_HBF_GATE, &up, ffn * dense_layers, kernels, &count);
    add_kernel(s, SC_HBF_UP, &up, ffn * dense_layers, kernels, &count);
    add_kernel(s, SC_HBF_DOWN, &down, ffn * dense_layers, kernels, &count);

    if (is_moe) {
        const double expert = s->ffn_matrices * s->hidden * round_up(s->expert_ffn / shard);
        const double distinct = sc_hbf_distinct_experts(s);
        const struct gemm experts = { .k = s->hidden, .n = s->expert_ffn,
                                      .elements = distinct * expert,
                                      .tokens = tokens * s->experts_per_token / distinct };
        add_kernel(s, SC_HBF_EXPERTS, &experts, ffn * moe_layers, kernels, &count);
        const struct gemm shared = { .k = s->hidden, .n = round_up(s->expert_ffn / shard),
                                     .elements = (isnan(s->shared_experts) ? 0.0
                                                                           : s->shared_experts) * expert,
                                     .tokens = tokens };
        add_kernel(s, SC_HBF_SHARED, &shared, shared.elements > 0.0 ? ffn * moe_layers : 0.0,
                   kernels, &count);
    }
    if (s->lm_head == SC_HBF_YES && s->part == SC_HBF_PART_ALL) {
        /* Only the last token of a prompt needs logits. */
        const struct gemm head = { .k = s->hidden, .n = round_up(s->vocab / shard),
                                   .tokens = s->phase == SC_HBF_PREFILL ? 1.0 : tokens };
        add_kernel(s, SC_HBF_LM_HEAD, &head, 1.0, kernels, &count);
    }
    return count;
}
