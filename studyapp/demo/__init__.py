"""The simulated panel on example pictures behind `relstudy demo`."""
