"""What is written in a plot."""


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()] if display.figure_.legends else []


def labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]
