"""What a task asks and how its answers become rows: one file each, registered with ``@elicitation(name)``."""
