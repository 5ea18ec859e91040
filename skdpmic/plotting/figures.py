"""Where pictures are drawn."""


def new_axes(name, size=None):
    """Axes of a new figure, of `size` in inches, for the display of this name."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{name} needs matplotlib: pip install matplotlib") from error
    return pyplot.figure(figsize=size, layout="constrained").add_subplot()
