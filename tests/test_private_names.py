"""The package uses no private name of another, which its next version may drop, except for those listed here."""

import ast
import importlib
import inspect
from functools import cache

import pytest

from tests.test_layout import MODULES, tree_of

# Each with the reason why it cannot change unnoticed.
ATTRIBUTES = {
    "_asdict": "documented by collections.namedtuple",
    "_fields": "documented by collections.namedtuple",
    "_replace": "documented by collections.namedtuple",
    "_cache": "of numba before 0.68, whose versions are all released: skdpmic/_utils/jit.py",
    "_cache_file": "of numba before 0.68",
    "_source_stamp": "of numba before 0.68",
}
OVERRIDDEN = {
    "_get_support_mask": "SelectorMixin of scikit-learn documents it as what a selector must define",
    "_repr_html_": "documented by IPython",
    "_repr_mimebundle_": "documented by IPython",
}
BY_NAME = {"getattr", "hasattr", "setattr", "delattr"}  # and operator.attrgetter, which takes a name alone


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def defined_names(nodes):
    """Names of all functions, classes, variables and attributes that the package defines.

    Keys of dicts and keywords are among them, because objects store what they know in one step.
    """
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.attr if isinstance(node, ast.Attribute) else node.id
        elif isinstance(node, ast.keyword):
            yield node.arg
        elif isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def imported(node):
    """The names in an import of another package, split at dots."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    return [part for name in names if not name.startswith("skdpmic.") for part in name.split(".")]


def used(node):
    """Names of attributes that are read."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in BY_NAME | {"attrgetter"}:
        return [part for text in node.args if isinstance(text, ast.Constant) for part in str(text.value).split(".")]
    return []


def private_names(nodes):
    """Private names of other packages, as (module, line, name), in pairs of a module and a node."""
    ours = set(defined_names(node for _, node in nodes)) - ATTRIBUTES.keys()
    for module, node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((module, node.lineno, name) for name in imported(node) if is_private(name))
        else:
            yield from ((module, node.lineno, name) for name in used(node) if is_private(name) and name not in ours)


@cache
def nodes_of_package():
    return [(module, node) for module, path in MODULES.items() for node in ast.walk(tree_of(path))]


@cache
def all_defined_names():
    return set(defined_names(node for _, node in nodes_of_package()))


@pytest.mark.slow
def test_no_private_name_of_another_package_is_used():
    assert {name for _, _, name in private_names(nodes_of_package())} == ATTRIBUTES.keys(), (
        "Use what the package documents; if there is nothing, put the name into one module of skdpmic/_utils, behind a "
        "test of the version that has it, and add it to ATTRIBUTES with the reason. Remove what is no longer used."
    )


def test_private_names_are_found_and_our_own_are_allowed():
    source = """from sklearn.utils._param_validation import InvalidParameterError
from skdpmic.a import _b
import numpy._core.umath
class C:
    def _f(self):
        self._x: int = 1
        self.__dict__ = {"_y": 2}
        getattr(array, "_mask"), operator.attrgetter("a._d")
        return self._x + self._y + self._get_tags()"""
    found = {name for _, _, name in private_names([("module", node) for node in ast.walk(ast.parse(source))])}
    assert found == {"_param_validation", "_core", "_mask", "_d", "_get_tags"}


def classes():
    """All classes of the package."""
    for name in MODULES.keys() - {"skdpmic.__main__"}:
        for value in vars(importlib.import_module(name)).values():
            if inspect.isclass(value) and value.__module__ == name:
                yield value


def overridden(cls):
    """Private names that a class, or one of our base classes, shares with a base class of another package."""
    our_bases = [base for base in cls.__mro__ if base.__module__.startswith("skdpmic.")]
    ours = {name for base in our_bases for name in vars(base) if is_private(name)} & all_defined_names()
    return {name for base in cls.__mro__ if base not in our_bases for name in vars(base).keys() & ours}


def test_no_private_name_of_another_package_is_overridden_unless_it_is_documented():
    found = {f"{cls.__name__}.{name}" for cls in classes() for name in overridden(cls)}
    assert {name.partition(".")[2] for name in found} == OVERRIDDEN.keys(), (
        f"{sorted(found)}: give what is ours another name; if the other package calls it and documents that, add it to "
        "OVERRIDDEN with the reason, and remove what is not defined."
    )
