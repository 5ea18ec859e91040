"""Broken lines of the package, each with a test that must fail for it; ``test_mutants.py`` sees to that.

Chosen for what they do to the guarantee: too little noise, a cost that is too low, data in what remains or is said.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A change of one place in the package."""

    file: str  # in skdpmic
    old: str  # occurs there exactly once
    new: str
    test: str  # in tests, a node id that pytest knows


FIT_SCALE = "privacy/test_noise_scale.py::test_the_noise_of_a_fit_is_that_of_the_formula_to_the_last_step"
PAIR_SCALE = "privacy/test_noise_scale.py::test_the_noise_of_a_pair_is_that_of_the_formula_to_the_last_step"
FIT_DEFAULTS = "privacy/test_noise_scale.py::test_the_defaults_of_a_fit_are_those_for_the_epsilon_of_each_score"
PAIR_DEFAULTS = "privacy/test_noise_scale.py::test_the_defaults_of_a_pair_are_those_for_its_epsilon"
GAUSSIAN = (
    "privacy/test_audit_gaussian.py::test_all_scores_together_lose_epsilon_at_most_and_five_sixths_of_it_at_least"
)
SCORES_LAW = (
    "privacy/test_audit_exact.py::test_no_release_of_scores_is_more_than_exp_epsilon_likelier_for_a_neighbour"
    "[here0-there0-1.0]"
)
SAME_EPSILON = "privacy/test_ledger.py::test_costs_that_are_equal_in_epsilon_only_are_added_up_as_they_are"
PLANNED = (
    "planning/test_plan.py::test_a_fit_has_the_noise_that_is_stated_and_costs_no_more_and_the_cheapest_comes_first"
)
FULL_LEDGER = "privacy/test_ledger.py::test_a_full_ledger_refuses_before_any_noise_is_drawn"

MUTANTS = [
    # --- Sensitivity, in grid steps
    Mutant("statistics/measure.py", ", self.rounding_error(shape))", ", 0)",
           f"{FIT_SCALE}[continuous-laplace-fit]"),
    Mutant("pairs/mic.py", "mic_r_sensitivity(n), rounding_error(n, plan))", "mic_r_sensitivity(n), 0)",
           f"{PAIR_SCALE}[mic_r_laplace]"),
    Mutant("pairs/mic.py", "mic_e_sensitivity(n, B), rounding_error(n, plan))", "mic_e_sensitivity(n, B), 0)",
           f"{PAIR_SCALE}[mic_e_laplace]"),
    Mutant("statistics/mtv_r.py", "mtv_r_sensitivity(shape.n_samples)", "mtv_r_sensitivity(shape.n_samples) / 2",
           "test_statistics.py::test_the_noise_is_that_of_the_formula[mtv_r-laplace]"),
    Mutant("statistics/ranks.py", "rank_sensitivity.kendall_sensitivity", "rank_sensitivity.chatterjee_sensitivity",
           "test_statistics.py::test_the_noise_is_that_of_the_formula[kendall-one-shot]"),
    Mutant("statistics/ranks.py", "strict_ranks(target.values, keys_of_target)", "strict_ranks(target.values, keys)",
           "test_statistics.py::test_equal_values_are_put_in_an_order_that_the_seed_alone_decides[1-chatterjee]"),
    Mutant("search.py", "MEAN_ERROR)", "0)",
           "privacy/test_noise_scale.py::test_the_noise_of_a_choice_is_that_of_the_formula_to_the_last_step[4]"),
    Mutant("search.py", "Fraction(1, self.n_subsets_)", "Fraction(1, 2 * self.n_subsets_)",
           "privacy/test_noise_scale.py::test_the_noise_of_a_choice_is_that_of_the_formula_to_the_last_step[5]"),
    Mutant("dependence/optimize_axis.py", " + (2 * n_cells + 3) / (2 * _scale(n) * n)", "",
           "privacy/test_noise_scale.py::test_the_rounding_error_has_every_term_of_its_proof[1000-60]"),
    Mutant("privacy/mechanisms.py", "2 * Fraction(rounding_error)", "Fraction(rounding_error)",
           "privacy/test_mechanisms.py::test_rounding_to_the_grid_moves_neighbours_no_further_apart_than_the_grid_"
           "sensitivity"),
    Mutant("privacy/mechanisms.py", "math.ceil((Fraction(sensitivity)", "math.floor((Fraction(sensitivity)",
           "privacy/test_mechanisms.py::test_grid_sensitivity_rounds_up"),
    # --- Families that are closed under merging three parts into two
    Mutant("dependence/mic_r.py", "[2, 1, 2]], dtype", "[1, 1, 2]], dtype",
           "dependence/test_mic_r.py::test_classes_may_be_numbered_in_any_order[None]"),
    Mutant("dependence/mic_r.py", "[0, 1, 3, 0], [0, 2, 3, 0], [0, 1, 2, 0]]",
           "[0, 3, 3, 0], [0, 3, 3, 0], [0, 2, 2, 0]]",
           "privacy/test_sensitivity.py::test_three_classes_would_attain_more_without_each_against_the_rest[9]"),
    Mutant("dependence/mic_r.py", "sizes = [finest_merge(B)]", "sizes = [round(B**0.5)]",
           "dependence/test_mic_r.py::test_the_plan_with_a_correction_is_closed"),
    Mutant("dependence/optimize_axis.py", "sum_ - offset * np.float64(k - one)", "sum_ - offset",
           "dependence/test_optimize_axis.py::test_each_number_of_parts_has_its_own_offset[3]"),
    Mutant("dependence/optimize_axis.py", "(constant + two_parts - offset)", "(constant + two_parts - 2 * offset)",
           "dependence/test_optimize_axis.py::test_each_number_of_parts_has_its_own_offset[2]"),
    Mutant("dependence/optimize_axis.py", "np.int64(_SLACK + np.uint64(4)", "-np.int64(_SLACK + np.uint64(4)",
           "dependence/test_optimize_axis.py::test_a_bound_is_raised_by_more_than_rounding_takes"),
    Mutant("privacy/sensitivity.py", "(size + 1) * _d", "size * _d",
           "pairs/test_mic_e.py::test_bound_is_the_formula_rounded_up"),
    Mutant("privacy/sensitivity.py", "n_replaced * (4 * (n - 1) / n**2)", "(4 * (n - 1) / n**2)",
           "privacy/test_mtv_r_sensitivity.py::test_m_records_change_the_score_by_at_most_m_times_as_much_and_nearly_by_"
           "that[shape1-9-2-any_joined]"),
    Mutant("privacy/sensitivity.py", "(4 * (n - 1) / n**2)", "(2 * (n - 1) / n**2)",
           "privacy/test_mtv_r_sensitivity.py::test_no_climb_gets_above_the_sensitivity[10-as released, numbers]"),
    Mutant("dependence/mtv_counts.py", "== 2, 0.5, 0.75)", "== 2, 0.5, 0.5)",
           "privacy/test_mtv_r_sensitivity.py::test_scores_keep_to_the_sensitivity_where_three_parts_change_most"),
    Mutant("pairs/mtv.py", "mtv_r_sensitivity(n), scorer.rounding_error)", "mtv_r_sensitivity(n), 0)",
           "pairs/test_mtv.py::test_the_noise_covers_the_rounding_error"),
    Mutant("privacy/sensitivity.py", "_ROUND_UP = 1 + 2.0**-45", "_ROUND_UP = 1.0",
           "privacy/test_sensitivity.py::test_every_sensitivity_is_the_exact_value_rounded_up"),
    # --- Noise
    Mutant("privacy/mechanisms.py", "math.ceil(steps / exact(epsilon))", "math.floor(steps / exact(epsilon))",
           "privacy/test_mechanisms.py::test_all_scores_together_spend_at_most_epsilon_and_nearly_all_of_it"),
    Mutant("privacy/mechanisms.py", "math.ceil(steps / exact(epsilon))", "math.ceil(steps / (2 * exact(epsilon)))",
           SCORES_LAW),
    Mutant("privacy/mechanisms.py", "steps / exact(epsilon)", "Fraction(steps) / Fraction(float(epsilon))",
           "privacy/test_filters.py::test_the_noise_reads_epsilon_as_the_ledger_does"),
    Mutant("privacy/mechanisms.py", "self._noise(len(scores), source)", "self._noise(1, source)",
           "privacy/test_audit_releases.py::test_no_release_loses_more_than_epsilon[scores together]"),
    Mutant("privacy/mechanisms.py", "key=lambda i: -noisy[i]", "key=lambda i: -scores[i]",
           SCORES_LAW.replace("here0-there0", "here1-there1")),
    Mutant("privacy/mechanisms.py", "discrete_gaussian(self.scale**2,", "discrete_gaussian(self.scale,",
           "privacy/test_gaussian.py::test_released_scores_follow_the_discrete_gaussian_law_around_the_score"),
    Mutant("release.py", "LaplaceMechanism.for_budget(self.epsilon, self.n_features,",
           "LaplaceMechanism.for_budget(self.epsilon, 1,", f"{FIT_SCALE}[continuous-laplace-fit]"),
    Mutant("release.py", "for_budget(self.epsilon, self.delta, self.n_features,",
           "for_budget(self.epsilon, self.delta, 1,",
           "privacy/test_audit_gaussian.py::test_a_release_is_separated_by_no_more_than_the_root_of_two_rho_and_by_"
           "three_quarters_of_it[4-30]"),
    Mutant("release.py", "GeometricMechanism.for_budget(self.epsilon, self.n_features)",
           "GeometricMechanism.for_budget(self.epsilon, 1)",
           "privacy/test_noise_scale.py::test_the_noise_of_a_table_is_two_tables_over_epsilon"),
    Mutant("privacy/geometric.py", "2 * n_tables / exact(epsilon)", "n_tables / exact(epsilon)",
           "privacy/test_geometric.py::test_all_tables_together_spend_exactly_epsilon"),
    Mutant("privacy/top_k.py", "scale_for_budget(epsilon, 2 * k * steps)", "scale_for_budget(epsilon, 2 * steps)",
           f"{FIT_SCALE}[continuous-one-shot-fit]"),
    Mutant("privacy/top_k.py", "scale_for_budget(epsilon, 2 * k * steps)", "scale_for_budget(epsilon, k * steps)",
           "privacy/test_audit_exact.py::test_of_a_one_shot_draw_only_the_list_can_be_published[1.0-the list]"),
    Mutant("privacy/top_k.py", "scale_for_rho(rho_for(epsilon, delta), k, steps)",
           "scale_for_rho(rho_for(epsilon, delta), 1, steps)",
           "privacy/test_top_k.py::test_lists_keep_to_rho_and_half_the_noise_does_not"),
    Mutant("privacy/noise.py", "~(negative & (magnitude == 0))", "~(negative & False)",
           "privacy/test_audit_exact.py::test_every_path_of_laplace_noise_given_its_magnitude_adds_up_to_its_law[2]"),
    Mutant("privacy/noise.py", "np.flatnonzero(draws >= bound)", "np.flatnonzero(draws > bound)",
           "privacy/test_noise.py::test_uniform_below_uses_every_accepted_byte_equally"),
    Mutant("privacy/noise.py", "return os.urandom", "return np.random.RandomState(0).bytes",
           "test_estimators.py::test_unseeded_fits_differ"),
    # --- zCDP
    Mutant("privacy/composition.py", "/ (2 * Fraction(rho))", "/ (4 * Fraction(rho))", f"{GAUSSIAN}[1.0-1e-06-4-6]"),
    Mutant("privacy/composition.py", "delta_of(rho, epsilon) <= delta)", "delta_of(rho, delta) <= epsilon)",
           f"{GAUSSIAN}[1.0-1e-06-4-6]"),
    Mutant("privacy/composition.py", "_ROUNDING = 2.0**-48", "_ROUNDING = 0.0",
           "privacy/test_composition.py::test_delta_is_the_infimum_over_alpha_rounded_up"),
    # --- Intervals
    Mutant("privacy/mechanisms.py", "tail = (1 - confidence) *", "tail = 2 * (1 - confidence) *",
           "privacy/test_mechanisms.py::test_intervals_cover_as_often_as_they_say"),
    Mutant("privacy/mechanisms.py", "ndtri((1 - confidence) / 2)", "ndtri(1 - confidence)",
           "privacy/test_gaussian.py::test_intervals_cover_as_often_as_they_say"),
    # --- The epsilon at which the defaults are looked up
    Mutant("release.py", "return statistic.table(B, c, n, self.epsilon_per_feature, n_classes)",
           "return statistic.table(B, c, n, self.epsilon, n_classes)", f"{FIT_DEFAULTS}[geometric-None-fit]"),
    Mutant("release.py", "        return float(self.epsilon) / self.n_features", "        return float(self.epsilon)",
           f"{FIT_DEFAULTS}[laplace-None-fit]"),
    Mutant("pairs/mic.py", "    B = resolve_B(B, n, epsilon, corr", "    B = resolve_B(B, n, 1.0, corr",
           f"{PAIR_DEFAULTS}[0.3]"),
    Mutant("pairs/mic.py", "    B = resolve_B(B, n, epsilon)\n    n_parts,",
           "    B = resolve_B(B, n, 1.0)\n    n_parts,", f"{PAIR_DEFAULTS}[0.3]"),
    # --- What is charged, and what is said to be spent
    Mutant("estimator.py", "self._pay(way.cost, records)",
           "way.release(records, measure, mechanism, self.n_jobs, source); self._pay(way.cost, records)", FULL_LEDGER),
    Mutant("release.py", "rho_for(epsilon, delta)", "rho_for(epsilon / 2, delta)",
           "privacy/test_ledger.py::test_gaussian_noise_is_charged_by_its_rho"),
    Mutant("release.py", "if needs_no_delta(self.epsilon, self.delta, self.k):", "if True:",
           "privacy/test_ledger.py::test_a_support_release_that_needs_no_delta_is_charged_none"),
    Mutant("pairs/one_score.py", "    if ledger is not None:", "    if False:",
           "privacy/test_ledger.py::test_every_private_function_is_charged"),
    Mutant("privacy/ledger.py", "limit.accepts([*costs, cost])", "limit.accepts(costs)", FULL_LEDGER),
    Mutant("privacy/ledger.py", "(entry.epsilon, entry.delta, entry.rho)", "(entry.epsilon, 0.0, entry.rho)",
           SAME_EPSILON),
    Mutant("privacy/ledger.py", "(entry.epsilon, entry.delta, entry.rho)", "(entry.epsilon, entry.delta, None)",
           SAME_EPSILON),
    Mutant("privacy/ledger_file.py", "synchronous = EXTRA", "synchronous = OFF",
           "privacy/test_ledger_file.py::test_every_charge_and_the_end_of_its_journal_are_on_disk_before_it_returns"),
    Mutant("privacy/ledger_file.py", "        before=_inside_sqlite.acquire,\n", "",
           "privacy/test_ledger_races.py::test_a_fork_waits_until_no_other_thread_is_inside_sqlite"),
    Mutant("privacy/ledger_file.py", "if digest != row[-1]:", "if False:",
           "privacy/test_ledger_file.py::test_an_error_says_what_was_changed"),
    Mutant("privacy/ledger_file.py", "> 1:\n            raise OSError(", "> 9:\n            raise OSError(",
           "privacy/test_ledger_file.py::test_a_ledger_with_two_names_is_refused_by_both"),
    Mutant("privacy/filters.py", "epsilon <= self.epsilon and delta <= self.delta", "epsilon <= self.epsilon",
           "privacy/test_filters.py::test_deltas_add_up_too"),
    Mutant("privacy/filters.py", "exact(cost.epsilon) * cost.count", "exact(cost.epsilon)",
           "privacy/test_filters.py::test_costs_add_up_as_the_decimals_that_they_are_written_as"),
    Mutant("privacy/filters.py", "_rho(cost) * cost.count", "_rho(cost)",
           "privacy/test_filters.py::test_zcdp_accepts_gaussian_noise_up_to_rho_and_pure_costs_up_to_epsilon"),
    Mutant("privacy/filters.py", "exact(cost.epsilon) ** 2 / 2", "exact(cost.epsilon) ** 2 / 8",
           "privacy/test_filters.py::test_zcdp_accepts_gaussian_noise_up_to_rho_and_pure_costs_up_to_epsilon"),
    Mutant("accounting/searches.py", "else round_up(number)", "else float(number)",
           "accounting/test_searches.py::test_no_stated_cost_is_below_the_exact_sum_and_none_is_a_float_too_large"),
    Mutant("accounting/searches.py", "FitCost(*map(max, zip(", "FitCost(*map(min, zip(",
           "accounting/test_searches.py::test_a_varying_epsilon_is_summed_and_the_refit_counted_at_the_largest"),
    Mutant("accounting/searches.py", "(sorted(column, reverse=True) for column in", "(column for column in",
           "accounting/test_searches.py::test_halving_counts_the_candidates_that_go_on_at_their_worst_in_epsilon_delta_and_"
           "number"),
    Mutant("privacy/filters.py", "in epsilons else round_up(", "in epsilons else float(",
           "test_search.py::test_what_was_spent_is_never_below_the_exact_sum"),
    # --- What is planned
    Mutant("planning/plan.py", "return values[first] if", "return values[max(first - 1, 0)] if",
           f"{PLANNED}[request_0]"),
    Mutant("planning/plan.py", "margin(CONFIDENCE)) if error is None", "margin(CONFIDENCE) / 1.01) if error is None",
           "planning/test_plan.py::test_an_error_is_rounded_up_by_less_than_a_digit[request_0]"),
    Mutant("privacy/top_k.py", "(1 + confidence) / (1 - confidence)", "1 / (1 - confidence)",
           "planning/test_plan.py::test_scores_as_far_apart_as_the_error_change_places_once_in_forty[ExponentialTopK]"),
    Mutant("accounting/searches.py", "fits.epsilon * n_splits + refit", "fits.epsilon * n_trainings + refit",
           "accounting/test_searches.py::test_a_cross_validation_charges_a_ledger_what_was_said[estimator0-of_a_fit0]"),
    # --- What remains, and what is said
    Mutant("estimator.py",
           "        self._warn_of_noise(way, mechanism, measure, records.shape, stacklevel=3)\n"
           "        self._pay(way.cost, records)\n",
           "        self._pay(way.cost, records)\n"
           "        self._warn_of_noise(way, mechanism, measure, records.shape, stacklevel=3)\n",
           "test_noise_warning.py::test_every_way_to_publish_warns_before_the_charge[fit]"),
    Mutant("uncached.py", "| {_NONCE: fresh_nonce()}", "| {_NONCE: b''}",
           "test_uncached.py::test_a_pipeline_with_memory_draws_new_noise_for_an_unchanged_table"),
    Mutant("checks/readable.py", "        refuse_masked(data, name)\n", "        pass\n",
           "checks/test_readable.py::test_masked_tables_are_refused"),
    Mutant("checks/readable.py", "    if with_dates:", "    if False:",
           "checks/test_readable.py::test_one_row_with_nanoseconds_moves_nothing_that_is_scored"),
    Mutant("release.py", "(t) for t in noisy_counts)", "(t) for t in counts)",
           "test_estimators.py::test_geometric_scores_are_computed_from_the_noisy_tables_alone"),
    Mutant("pieces.py", 'if "_sketch" in vars(self):', "if False:",
           "counting/test_sketch.py::test_an_estimator_with_counts_is_not_fitted_not_pickled_and_clones_without_them"),
    Mutant("estimator.py", "if self.random_state is not None:", "if False:",
           "test_estimators.py::test_every_fit_that_leaks_warns_where_the_user_called_it"),
    Mutant("trials.py", "with generators_seeded(seed), warnings.catch_warnings(), context",
           "with warnings.catch_warnings(), context",
           "test_search.py::test_a_record_moves_the_scores_of_one_subset_only"),
    Mutant("estimator.py", 'vars(self).pop("_sketch", None)', "pass",
           "counting/test_sketch.py::test_an_estimator_with_counts_is_not_fitted_not_pickled_and_clones_without_them"),
    Mutant("counting/sketch.py", "    sketch.n_samples += len(X)\n    sketch._is_torn = False",
           "    sketch._is_torn = False\n    sketch.n_samples += len(X)",
           "test_interrupts.py::test_a_sketch_that_is_interrupted_at_any_line_is_as_it_was_or_complete_or_refused"),
    Mutant("counting/sketch.py", "merged.n_samples = self.n_samples + other.n_samples",
           "merged.n_samples = self.n_samples",
           "counting/test_sketch.py::test_any_chunking_order_and_merge_tree_gives_the_same_counts[kind0-thirds]"),
    Mutant("counting/sketch_file.py", "except BaseException:", "except Exception:",
           "test_interrupts.py::test_a_sketch_whose_saving_is_interrupted_leaves_no_file_of_counts"),
    Mutant("unchanged.py", "except BaseException:", "except Exception:",
           "test_interrupts.py::test_an_estimator_that_is_interrupted_at_any_line_is_as_it_was_or_fitted"
           "[laplace-another fit]"),
    Mutant("checks/errors.py", "        message = _public_message(error)\n    raise kind(message)",
           "        raise kind(_public_message(error)) from error",
           "test_tracebacks.py::test_no_traceback_of_bad_data_holds_a_value[fit-a string among the features]"),
    Mutant("counting/sketch_file.py", "RangeGridSketch.save wrote.\") from None", "RangeGridSketch.save wrote.\")",
           "test_tracebacks.py::test_no_traceback_of_a_damaged_sketch_holds_what_is_in_the_file"),
]  # fmt: skip
