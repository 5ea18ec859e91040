"""Many small cases in one test: to report each of thousands takes longer than to check it."""

import functools
import inspect
import itertools


def each(names, values):
    """Like ``pytest.mark.parametrize``, but all values in one test, whose failure says which of them it is.

    Parameters
    ----------
    names : str
        Of the arguments, separated by commas.
    values : iterable
        Of one argument; or of tuples, of several.
    """
    keys, values = [name.strip() for name in names.split(",")], list(values)

    def fold(test):
        @functools.wraps(test)
        def of_all(*arguments, **others):
            for value in values:
                case = dict(zip(keys, value if len(keys) > 1 else [value], strict=True))
                try:
                    test(*arguments, **others, **case)
                except BaseException as error:
                    error.add_note(f"with {case}")
                    raise

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        of_all.__signature__ = signature.replace(parameters=kept)
        return of_all

    return fold


def cover(items):
    """The tests that stay in the fast set, of one function's for all combinations of its parameters' values.

    Each value of each ``parametrize`` is in at least one of them; of several that add as many values, the one is taken
    that brings together most values which were in no test together.
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
    """The values of one test, by the arguments that each ``parametrize`` names, as they are the same objects in all."""
    names = [mark.args[0] for mark in item.iter_markers("parametrize")]
    names = [name.replace(" ", "").split(",") if isinstance(name, str) else name for name in names]
    return [(*of_one, *(id(item.callspec.params[name]) for name in of_one if name)) for of_one in names]
