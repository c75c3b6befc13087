"""What an audit of the planned size finds: the audit is simulated, and its tests are made."""
