"""The subcommands of `relstudy` that belong to a study folder, one module each."""
