"""Break one place in the package, located by the name of its function and by its code, whatever the layout.

The places are listed in ``mutants``, a file for each part of the package, each with a test that must fail for it. They
were chosen for what they do to the guarantee: too little noise, too low a cost, data in fitted attributes or messages.
"""

import ast
import functools
import textwrap
import tomllib
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "skdpmic"
LISTS = Path(__file__).parent / "mutants"
COMPILED = ("jit", "leaf")  # the decorators


class Mutant(NamedTuple):
    """A change in one place of the package."""

    where: str  # "function", "Class.method", "CONSTANT" or "module"; "module.function" if others have that name, too
    old: str  # an expression or statements that occur exactly once
    new: str
    test: str  # in tests, a node id that pytest knows


def mutants():
    """All of the lists."""
    files = sorted(LISTS.glob("*.toml"))
    return [Mutant(**each) for file in files for each in tomllib.loads(file.read_text(encoding="utf-8"))["mutants"]]


@functools.cache
def broken(mutant):
    """The mutant's file, relative to the package, and its source with the change."""
    file, scope = _scope(mutant.where)
    places = _places(scope, _code(mutant.old))
    if len(places) != 1:
        raise ValueError(
            f"{mutant.old!r} is {len(places)} times in {mutant.where}, not once: update the list of mutants"
        )
    return file.relative_to(PACKAGE), _spliced(file.read_bytes(), *places[0], mutant.new)


def changes_nothing(mutant):
    """Whether old and new code are the same."""
    return _dump(_code(mutant.old)) == _dump(_code(mutant.new))


def may_be_compiled(mutant):
    """Whether the change may affect a compiled kernel: it is in a compiled function or a module-level name."""
    _, node = _scope(mutant.where)
    if isinstance(node, ast.ClassDef):
        return False
    if not isinstance(node, ast.FunctionDef):
        return True
    return any(ast.unparse(decorator) in COMPILED for decorator in node.decorator_list)


# --- Locating the scope


def _scope(where):
    """The one file and node whose full name, such as "package.module.Class.method", ends with `where`."""
    found = _places_of_names().get(where, [])
    if len(found) != 1:
        raise ValueError(f"{where!r} names {len(found)} places of the package, not one: update the list of mutants")
    return found[0]


@functools.cache
def _places_of_names():
    """The file and node of every module, class, function and constant, by each end of its full name."""
    places = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(file.read_bytes())
        for name, node in [(module, tree), *_inside(tree, module)]:
            parts = name.split(".")
            for i in range(len(parts)):
                places.setdefault(".".join(parts[i:]), []).append((file, node))
    return places


def _inside(scope, prefix):
    """Everything defined or assigned in a module or a class, by full name."""
    for node in scope.body:
        names = [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        yield from ((f"{prefix}.{name}", node) for name in names)
        if isinstance(node, ast.ClassDef):
            yield from _inside(node, f"{prefix}.{node.name}")


# --- Locating the code


def _code(text):
    """A list of one expression, or of statements."""
    statements = ast.parse(textwrap.dedent(text)).body
    return [statements[0].value] if len(statements) == 1 and isinstance(statements[0], ast.Expr) else statements


def _dump(nodes):
    return [ast.dump(node) for node in nodes]


def _places(scope, code):
    """The first and the last node of each occurrence of this code in `scope`."""
    kind, wanted = type(code[0]), _dump(code)
    runs = _expressions(scope) if isinstance(code[0], ast.expr) else _runs_of_statements(scope, len(code))
    return [(run[0], run[-1]) for run in runs if type(run[0]) is kind and _dump(run) == wanted]


def _expressions(node):
    todo = [node]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.expr):
            yield [node]
        if not isinstance(node, ast.JoinedStr):  # Python 3.11 gives no positions for expressions inside these
            todo.extend(ast.iter_child_nodes(node))


def _runs_of_statements(scope, length):
    if isinstance(scope, ast.stmt):
        yield [scope]
    for node in ast.walk(scope):
        for _, block in ast.iter_fields(node):
            if isinstance(block, list):
                yield from (block[i : i + length] for i in range(len(block) - length + 1))


# --- The change


def _spliced(source, first, last, new):
    """The source with these nodes replaced by `new`."""
    lines = source.splitlines(keepends=True)
    start = sum(map(len, lines[: first.lineno - 1])) + first.col_offset
    end = sum(map(len, lines[: last.end_lineno - 1])) + last.end_col_offset
    new = textwrap.dedent(new)
    if isinstance(first, ast.expr) and isinstance(_code(new)[0], ast.expr):
        new = f"({new})"
    new = textwrap.indent(new, " " * first.col_offset).lstrip()
    return source[:start] + new.encode() + source[end:]
