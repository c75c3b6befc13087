"""Which findings say what is wrong with a file."""

from __future__ import annotations

from benchmarks.published_fourth.judge import NUMBERS
from benchmarks.published_fourth.judge import RIGHT as FOURTH

RIGHT = {
    **dict.fromkeys(
        (
            "percent_fraction",
            "rate_above_100",
            "ratio_above_1",
            "shifted_row",
            "totals_do_not_add",
            "transposed_digits",
            "wrong_count",
            "wrong_highest_sentence",
            "wrong_impact_ratio",
            "wrong_rate",
            "wrong_reference",
        ),
        NUMBERS,
    ),
    **{
        kind: FOURTH[kind]
        for kind in (
            "bias_free_claim",
            "dropped_category",
            "duplicate_category",
            "missing_table",
            "stale_audit",
            "synthetic_unexplained",
        )
    },
    "contradictory_dates": {
        "audit_dates_differ",
        "audit_too_old_at_use",
        "data_after_audit",
        "data_before_use",
        "use_before_first_audit",
        "use_dates_differ",
    },
    "missing_fact": {"audit_day_not_found", "field_not_found", "no_bias_audit", "unknown_in_calculation"},
    "vendor_as_auditor": FOURTH["vendor_is_auditor"],
}
