"""Many small cases in one test, because reporting each of thousands takes longer than checking it."""

import functools
import inspect
import itertools


def each(names, values):
    """Like ``pytest.mark.parametrize``, but with all values in one test, whose failure names the value.

    Parameters
    ----------
    names : str
        Names of the arguments, separated by commas.
    values : iterable
        Values of the one argument, or tuples of values of several.
    """
    keys, values = [name.strip() for name in names.split(",")], list(values)

    def fold(test):
        @functools.wraps(test)
        def run_all(*arguments, **others):
            for value in values:
                case = dict(zip(keys, value if len(keys) > 1 else [value], strict=True))
                try:
                    test(*arguments, **others, **case)
                except BaseException as error:
                    error.add_note(f"with {case}")
                    raise

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        run_all.__signature__ = signature.replace(parameters=kept)
        return run_all

    return fold


def cover(items):
    """Select the tests that stay fast, given a function's tests for all combinations of its parameters' values.

    Each value of each ``parametrize`` is in at least one of them. Among tests that add equally many values, the one
    with the most new pairs of values is selected.
    """
    values = {item: _values(item) for item in items}
    wanted, together, kept = set().union(*values.values()), set(), []
    while wanted:

        def worth(item, wanted=frozenset(wanted)):
            pairs = itertools.combinations(values[item], 2)
            return sum(value in wanted for value in values[item]), sum(pair not in together for pair in pairs)

        best = max(values, key=worth)
        kept.append(best)
        wanted -= {*values[best]}
        together.update(itertools.combinations(values.pop(best), 2))
    return kept


def _values(item):
    """The values of one test for each ``parametrize``, by `id`: all tests share the same objects."""
    names = [mark.args[0] for mark in item.iter_markers("parametrize")]
    names = [name.replace(" ", "").split(",") if isinstance(name, str) else name for name in names]
    return [(*of_one, *(id(item.callspec.params[name]) for name in of_one if name)) for of_one in names]
