"""Formulas as MathML, which browsers render natively: no script, no fonts, no network."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

logger = logging.getLogger(__name__)
SIZE_OF_BRACKETS = re.compile(r"\\[bB]igg?[lrm]?(?![a-z])")  # MathML stretches brackets automatically
TEXT = re.compile(r"\\(text\w*|operatorname|mathrm)\{[^}]*\}")
WORDS = re.compile(r"(?<![\\a-z])[a-z]{3,} [a-z]{3,}")  # a dollar sign too many or too few
NOT_READ = re.compile(r"<m\w+>\\")
LONG = 30  # characters; a longer formula may not fit into a line on a phone


def mathml(node, display):
    formula = convert(SIZE_OF_BRACKETS.sub("", node.astext()), display=display)
    if NOT_READ.search(formula) or WORDS.search(TEXT.sub("", node.astext())):
        logger.warning("a formula cannot be read: %s", node.astext(), location=node)
    return formula


def visit_math(translator, node):
    formula = mathml(node, "inline")
    is_long = len(node.astext()) > LONG
    translator.body.append(f'<span class="long-formula">{formula}</span>' if is_long else formula)
    raise nodes.SkipNode


def visit_displaymath(translator, node):
    translator.body.append(f'<div class="formula">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
