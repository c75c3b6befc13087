"""Which findings say what is wrong with a file."""

from __future__ import annotations

NUMBERS = {
    "comparator_elsewhere",
    "comparator_not_highest",
    "highest_category_wrong",
    "more_selected_than_applied",
    "rate_impossible",
    "rate_not_rebuilt",
    "ratio_not_rebuilt",
    "ratio_of_zero_rates",
    "share_not_rebuilt",
    "tables_do_not_add_up",
    "total_mismatch",
    "unknown_does_not_add_up",
    "unreadable_number",
}
RIGHT = {
    "wrong_rate": NUMBERS,
    "wrong_impact_ratio": NUMBERS,
    "wrong_count": NUMBERS,
    "wrong_reference_group": NUMBERS,
    "ratio_above_1": NUMBERS,
    "rate_above_100": NUMBERS,
    "duplicate_category": {"duplicate_category"},
    "dropped_category": {
        "category_dropped",
        "category_left_out",
        "tables_do_not_add_up",
        "total_mismatch",
    },
    "missing_table": {"table_missing"},
    "all_values_na": {
        "category_without_ratio",
        "column_missing",
        "no_bias_audit",
        "numbers_not_given",
        "table_missing",
        "unreadable_number",
    },
    "bias_free_claim": {"verdict_given"},
    "stale_audit": {"audit_too_old", "audit_too_old_at_use"},
    "synthetic_unexplained": {"scores_not_from_tool"},
    "vendor_is_auditor": {"auditor_may_be_related", "auditor_not_independent"},
    "missing_audit_date": {"audit_day_not_found", "field_not_found", "no_bias_audit"},
    "missing_distribution_date": {"field_not_found"},
    "missing_unknown_count": {"field_not_found", "unknown_in_calculation"},
    "contradictory_audit_dates": {"audit_dates_differ"},
}
