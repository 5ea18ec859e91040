"""``plan``: the noise of a choice, or the epsilon it needs, before any data is used."""

from skdpmic.codebook.codebook import Codebook
from skdpmic.command_line.named_columns import check_choice
from skdpmic.command_line.outputs import print_json
from skdpmic.planning.plan import plan_release
from skdpmic.planning.rows import ReleasePlan
from skdpmic.selection.selectors import PrivateSelectKBest


def execute(arguments, run):
    """Print a plan of `select` with this epsilon, or the smallest epsilon that it needs."""
    codebook = Codebook.read(arguments.codebook)
    check_choice(arguments, codebook)
    public = codebook.target(arguments.target, arguments.features)
    plan = _plan_of_fit(arguments, public) if arguments.error is None else _plan_of_error(arguments, public)
    plan = _name_releases_first(plan, arguments.statistic)
    if arguments.json:
        print_json({"command": "plan", "sought": plan.sought, "releases": [row._asdict() for row in plan]})
    else:
        print(plan)


def _plan_of_fit(arguments, public):
    selector = PrivateSelectKBest(
        arguments.k,
        statistic=arguments.statistic,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        keep=arguments.keep,
        **public,
    )
    return selector.plan(arguments.n_samples, _n_features(public))


def _plan_of_error(arguments, public):
    classes = public.get("classes")
    return plan_release(
        n_samples=arguments.n_samples,
        n_features=_n_features(public) - len(arguments.keep),
        k=arguments.k,
        error=arguments.error,
        delta=arguments.delta,
        n_classes=None if classes is None else len(classes),
        max_rows_per_group=public.get("max_rows_per_group"),
    )


def _n_features(public):
    return len(public["bounds"]) + len(public["categories"])


def _name_releases_first(plan, statistic):
    """The releases of names, which `select` can make; those of the requested statistic come first."""
    rows = [row for row in plan if row.release == "names"]
    return ReleasePlan(tuple(sorted(rows, key=lambda row: row.statistic != statistic)), plan.sought)
