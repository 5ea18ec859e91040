"""Imports have one direction: no module imports from one above it; and no module is too long to read at once."""

import ast
import inspect
import io
import re
import textwrap
import tokenize
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from sklearn.base import BaseEstimator

import skdpmic
from skdpmic.selection.scoring import PrivateScoring
from tests.folding import each

ROOT = Path(skdpmic.__file__).parent

# From the bottom up. Modules and packages on one line do not import one another.
LAYERS = [
    {"_utils"},
    {"privacy", "datasets", "table"},
    {"budget", "codebook", "statistics"},
    {"counting", "release"},
    {"planning", "two_party"},
    {"plotting", "preprocessing", "selection"},
    {"correlation"},
    {"causal"},
    {"models"},
    {"compile", "search"},
    {""},
    {"cards"},
    {"command_line"},
    {"__main__"},
]
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
MODULES = {
    ".".join(("skdpmic", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path):
    """Modules of this package that a file imports, at its top or inside a function."""
    found = []
    for node in ast.walk(tree_of(path)):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found += [name for name in names if name in MODULES]
    return found


def layer(module):
    return module.partition(".")[2].partition(".")[0]


@each("module", MODULES)
def test_every_import_is_from_a_lower_layer_or_the_same_package(module):
    for imported in imports(MODULES[module]):
        assert layer(imported) == layer(module) or HEIGHT[layer(imported)] < HEIGHT[layer(module)], imported


def test_there_are_no_circular_imports():
    TopologicalSorter({module: set(imports(path)) - {module} for module, path in MODULES.items()}).prepare()


@each("module", MODULES)
def test_a_module_has_at_most_400_lines_of_code(module):
    """Docstrings, comments and blank lines aside."""
    source = MODULES[module].read_text(encoding="utf-8")
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in ignored]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(tree_of(MODULES[module])):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines -= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    assert len(lines) <= 400


SEVERAL = {"__init__", "statistic", "null_law"}  # one for each statistic


def test_no_two_files_with_different_meanings_share_a_name():
    names = [path.stem for path in MODULES.values()]
    assert sorted({name for name in names if names.count(name) > 1} - SEVERAL) == []


ALIKE = {"main", "execute"}  # the command line, and each of its commands


def defined(path):
    """Names of classes and of public functions at the top of a module."""
    for node in tree_of(path).body:
        if isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and not node.name.startswith("_")):
            yield node.name


def test_no_two_classes_or_functions_with_different_meanings_share_a_name():
    found = [name for path in MODULES.values() for name in set(defined(path))]
    assert {name for name in found if found.count(name) > 1} - ALIKE == set()


OF_OURS = re.compile(r"path|folder|journal|\.(name|kind|file|data)$")  # text of Python, never a scalar of numpy


@each("module", MODULES)
def test_no_message_quotes_a_parameter_by_its_repr(module):
    """Only `quoted` does, which writes numpy's scalars as users wrote them, and quotes no data."""
    in_repr = {
        id(value)
        for function in ast.walk(tree_of(MODULES[module]))
        if isinstance(function, ast.FunctionDef) and function.name == "__repr__"
        for value in ast.walk(function)
    }
    found = [
        ast.unparse(value.value)
        for value in ast.walk(tree_of(MODULES[module]))
        if isinstance(value, ast.FormattedValue) and value.conversion == ord("r") and id(value) not in in_repr
    ]
    assert [text for text in found if not OF_OURS.search(text)] == []


PAGE = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_architecture_page_begins_with_the_lines_of_a_fit():
    bodies = [
        ast.parse(textwrap.dedent(inspect.getsource(method))).body[0].body[1:]  # after the docstring
        for method in (PrivateScoring.fit, PrivateScoring._release)
    ]
    lines = [ast.unparse(line) for line in (*bodies[0][:-1], *bodies[1])]  # the first ends with a call of the second
    assert re.search("```py\n(.*?)\n```", PAGE, re.S)[1] == "\n".join(lines)


def test_the_architecture_page_lists_every_folder_and_files_that_exist():
    named = re.findall("`([a-z_]+)/`", PAGE[PAGE.index("| room |") :])
    assert sorted(named) == sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
    files = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", PAGE))
    assert {file for file in files if not (ROOT / file).exists() and not (ROOT.parent / file).exists()} == set()


def test_only_three_modules_are_at_the_top_level():
    assert {path.stem for path in ROOT.glob("*.py")} == {"__init__", "__main__", "compile"}


# --- Conversions of tables --------------------------------------------------------------------------------------------

CONVERSIONS = {
    *("asarray", "asanyarray", "check_array", "check_X_y", "validate_data", "column_or_1d", "indexable"),
    *("to_numpy", "to_pandas", "to_polars", "to_pylist", "to_list", "from_arrow", "from_pandas", "from_dict"),
    *("DataFrame", "Series"),
}
# Where conversions of libraries meet a table or a column of a user: one place to read each, one to hand it on.
MEETING_TABLES = {
    "skdpmic.table.normal_form": {  # of one column, by its type
        *("Series", "asanyarray", "asarray", "to_list", "to_numpy", "to_pandas", "to_pylist")
    },
    "skdpmic.table.frames": {"DataFrame", "Series", "from_dict"},  # of our own matrix, or by the schema
    "skdpmic.table.tables": {  # by the schema, of one type, or of our own Column
        *("check_array", "to_numpy", "validate_data", "DataFrame", "Series", "from_dict", "to_pandas", "to_polars")
    },
    "skdpmic.table.values": {"asarray", "column_or_1d"},  # the shape of an array
    "skdpmic.search.grid_search": {"indexable"},  # lengths
    "skdpmic.two_party.randomized_response": {"asarray", "to_numpy"},  # reports, which are already private
}
# Where any function of a library, or a method that converts, meets an argument of these names. It may not elsewhere.
RAW = {"X", "y", "rows", "frame", "native", "groups", "sample_weight", "stream"}
LIBRARIES = {"np", "numpy", "nw", "narwhals", "pandas", "polars", "pyarrow", "sparse"}
THAT_ASK = {"is_into_dataframe", "is_into_series", "issparse", "from_native", "get_native_namespace", "ndim", "shape"}
METHODS = {
    *("astype", "cast", "collect", "item", "tocsc", "tocsr", "todense", "toarray", "to_arrow", "to_dict", "to_list"),
    *("tolist", "to_numpy", "to_pandas", "to_pylist", "values", "view", "iter_rows"),
}
MEETING_RAW = {
    "skdpmic.codebook.toml_file": {"from_stream"},  # its types
    "skdpmic.counting.streams": {"collect"},  # by Polars, with the types of the query
    "skdpmic.models.evaluation": {"tocsr"},
    "skdpmic.search.costs": {"unique"},  # the numbers of rows
    "skdpmic.table.frames": {"collect", "table"},  # by the schema
    "skdpmic.table.tables": {"to_numpy", "tocsc"},  # of one type
    "skdpmic.table.normal_form": {"isnat"},
}
OF_NUMBERS = {"datasets", "plotting", "privacy", "statistics"}  # rooms that get no table of a user
# Elsewhere these only meet parameters, numbers of our own, predictions, or what was released.
OF_OUR_OWN = {"asarray", "DataFrame", "Series", "to_numpy"}
WITHOUT_TABLES = {
    *("privacy", "plotting", "statistics", "codebook", "search.costs"),
    *("_utils.readable", "_utils.dataframes", "_utils.arguments", "selection.selectors"),
    *("correlation.private_correlation", "causal.private_pc", "causal.table_release"),
    *("models.evaluation", "models.additive", "models.parts", "models.model_releases"),
    *("table.domains", "table.facts"),
}


@each("module", MODULES)
def test_conversions_of_libraries_meet_tables_in_known_places_only(module):
    nodes = [*ast.walk(tree_of(MODULES[module]))]
    names = {getattr(node, "attr", getattr(node, "id", None)) for node in nodes}
    theirs = [node for node in nodes if isinstance(node, ast.ImportFrom) and not node.module.startswith("skdpmic")]
    names |= {alias.name for node in theirs for alias in node.names}  # perhaps under another name
    is_known = {layer(module), module.removeprefix("skdpmic.")} & WITHOUT_TABLES
    assert names & CONVERSIONS <= MEETING_TABLES.get(module, OF_OUR_OWN if is_known else set())


def meeting_raw(tree):
    """Names of functions of libraries that are called with raw data, or passed on with it, and of its methods."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(isinstance(each, ast.Name) and each.id in RAW for each in node.args):
            of_library = (each for each in (node.func, *node.args) if isinstance(each, ast.Attribute))
            if getattr(node.func, "id", None) != "isinstance":
                yield from (each.attr for each in of_library if ast.unparse(each).partition(".")[0] in LIBRARIES)
        if isinstance(node, ast.Attribute) and node.attr in METHODS and ast.unparse(node.value) in RAW:
            yield node.attr


@each("module", MODULES)
def test_raw_data_meets_functions_of_libraries_in_known_places_only(module):
    found = set() if layer(module) in OF_NUMBERS else {*meeting_raw(tree_of(MODULES[module]))} - THAT_ASK
    assert found == MEETING_RAW.get(module, set())


@each("line", ["np.array(X)", "map(np.unique, rows)", "rows.tolist()", "partial(nw.concat, frame)", "sparse.hstack(X)"])
def test_a_conversion_sneaked_in_would_be_found(line):
    assert {*meeting_raw(ast.parse(line))}


TAKE_TABLES = ("transform", "inverse_transform", "fit", "partial_fit", "predict", "predict_proba", "decision_function")


def test_no_estimator_inherits_a_method_that_reads_tables_from_another_library():
    """Others, such as fit_transform and score, call these."""
    for kind in {
        thing for thing in vars(skdpmic).values() if isinstance(thing, type) and issubclass(thing, BaseEstimator)
    }:
        for name in TAKE_TABLES:
            owner = next((base for base in kind.__mro__ if name in vars(base)), None)
            assert owner is None or owner.__module__.startswith("skdpmic."), (kind, name)
