"""Plan: everything that is decided before the model is asked anything."""

from audit_lib.plan.plan_stage import plan, power_table

__all__ = ["plan", "power_table"]
