"""The rendered collection and the simulated panel behind `relstudy demo`."""
