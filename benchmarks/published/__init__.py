"""Published summaries of bias audits, drawn and laid out for `check_report_published`."""
