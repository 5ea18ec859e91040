"""Formulas as MathML, which browsers show by themselves: no script, no fonts, no network."""

import re

from docutils import nodes
from docutils.utils.math import latex2mathml

# What docutils does not read, in words that it does.
SPELLINGS = [
    (re.compile(r"\\dots\b"), r"\\ldots"),
    (re.compile(r"\\iff\b"), r"\\Leftrightarrow"),
    (re.compile(r"\\tag\{(\w+)\}"), r"\\qquad\\text{(\1)}"),
    (re.compile(r"\\frac\s*(\\[a-z]+\b|\d)\s*(\d)"), r"\\frac{\1}{\2}"),
]


def mathml(formula, **options):
    for pattern, spelling in SPELLINGS:
        formula = pattern.sub(spelling, formula)
    return latex2mathml.tex2mathml(formula, **options)


def visit_math(translator, node):
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_displaymath(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(mathml(node.astext(), as_block=True))
    translator.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
