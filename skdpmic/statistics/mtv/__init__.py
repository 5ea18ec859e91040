"""MTVr: total variation over the grids that two parts of the target allow."""
