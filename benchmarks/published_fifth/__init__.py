"""Write test files that look like posted summaries of bias audits, clean and with one fault."""
