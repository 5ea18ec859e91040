"""What is written in a plot."""


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()] if display.figure_.legends else []


def labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def assert_readable(display):
    """No line of text is upon another, or cut off by the end of the figure."""
    figure, ax = display.figure_, display.ax_
    figure.canvas.draw()
    ticks = [label for axis in (ax.xaxis, ax.yaxis) for label in _labels_within(axis)]
    legends = [text for of in figure.legends for text in of.get_texts()]
    lines = [line for text in (*ticks, *ax.texts, ax.title, ax.xaxis.label, *legends) for line in _lines(text, figure)]
    for i, (text, left, right, low, high) in enumerate(lines):
        assert left >= 0 <= low, text
        assert right <= figure.bbox.x1, text
        assert high <= figure.bbox.y1, text
        for other, *its in lines[:i]:
            assert right <= its[0] or its[1] <= left or high <= its[2] or its[3] <= low, (text, other)


def _labels_within(axis):
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [label for tick in ticks for label in (tick.label1, tick.label2) if label.get_visible()]


def _lines(text, figure):
    """The lines of a text: each with its left and right, lower and upper end."""
    box, lines = text.get_window_extent(), text.get_text().split("\n")
    height, font = box.height / len(lines), text.get_fontproperties()
    for i, line in enumerate(lines):
        width = figure.canvas.get_renderer().get_text_width_height_descent(line, font, ismath=False)[0]
        start = {"left": 0.0, "center": (box.width - width) / 2, "right": box.width - width}[text.get_ha()]
        if line.strip():
            yield line, box.x0 + start, box.x0 + start + width, box.y1 - (i + 1) * height + 1, box.y1 - i * height - 1
