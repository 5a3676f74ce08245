"""How often a comparison of two runs is right: pairs of runs of which it is known whether they are equal."""
