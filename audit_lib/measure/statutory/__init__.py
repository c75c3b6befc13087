"""The statutory tables: rates, impact ratios, and what has to be printed with them."""
