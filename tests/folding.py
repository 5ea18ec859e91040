"""Many small cases in one test: to report each of thousands takes longer than to check it."""

import functools
import inspect


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
