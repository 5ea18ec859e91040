"""scikit-learn's error messages about data, read from its source: their wording and the values they interpolate."""

import ast
from pathlib import Path
from typing import NamedTuple

FILES = (
    "base.py",
    "feature_selection/_base.py",
    "utils/_array_api.py",
    "utils/_indexing.py",
    "utils/_mask.py",
    "utils/_set_output.py",
    "utils/multiclass.py",
    "utils/validation.py",
)


class Message(NamedTuple):
    """A message and the function that raises it."""

    function: str
    words: str  # interpolated expressions are in «»


def collected(root):
    """All error messages in those files of a scikit-learn folder that handle data."""
    found = []
    for file in FILES:
        path = Path(root) / file
        if path.exists():  # _array_api.py and others move between versions
            tree = ast.parse(path.read_text(encoding="utf-8"))
            functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            found += [message for function in functions for message in _of_function(function)]
    return sorted(set(found))


def _of_function(function):
    """Messages that a function raises itself, without those of nested functions."""
    nodes = list(_own(function))
    for node in nodes:
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            for words in _words(node.exc.args[0], nodes):
                yield Message(function.name, words)


def _own(function):
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, ast.FunctionDef):
            yield node
            yield from _own(node)


def _words(node, nodes):
    """The texts an expression may have; a variable has any text assigned to it, with or without what is appended."""
    if isinstance(node, ast.Name):
        texts = []
        for other in sorted((n for n in nodes if isinstance(n, ast.Assign | ast.AugAssign)), key=lambda n: n.lineno):
            targets = other.targets if isinstance(other, ast.Assign) else [other.target]
            if any(isinstance(target, ast.Name) and target.id == node.id for target in targets):
                new = _words(other.value, [])
                texts += new if isinstance(other, ast.Assign) else [old + more for old in texts for more in new]
        return texts or [_hole(node)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else _hole(part.value) for part in node.values]
        return ["".join(parts)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _filled(node, "%", ["%d", "%s", "%r", "%g"])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [a + b for a in _words(node.left, nodes) for b in _words(node.right, nodes)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return [_in_order(words, ["{}", "{0}"], values) for words in _words(node.func.value, nodes)]
    return [_hole(node)]


def _filled(node, _, signs):
    values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    return [_in_order(words, signs, values) for words in _words(node.left, [])]


def _in_order(words, signs, values):
    for value in values:
        places = [(words.find(sign), sign) for sign in signs if sign in words]
        if places:
            at, sign = min(places)
            words = words[:at] + _hole(value) + words[at + len(sign) :]
    return words


def _hole(node):
    return f"«{ast.unparse(node)}»"
