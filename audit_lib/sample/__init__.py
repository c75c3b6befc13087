"""Which prompts are audited: sources, window, demographics, and a seeded stratified draw."""

from audit_lib.sample.sample_stage import sample
from audit_lib.sample.sources import SOURCES

__all__ = ["SOURCES", "sample"]
