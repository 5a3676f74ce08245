"""How often the program names the right cause, measured on simulated jobs."""
