"""A selector of names that lets a test set the grids, which the public selector does not."""

from dataclasses import replace

from skdpmic import PrivateSelectKBest
from skdpmic.selection.scoring_plan import MeasureParameters
from skdpmic.statistics.registry import statistic_named


class SelectNames(PrivateSelectKBest):
    """PrivateSelectKBest with B, c and correction; its default statistic is MICr."""

    def __init__(
        self,
        k=10,
        *,
        statistic="mic_r",
        epsilon=1.0,
        delta=0.0,
        bounds=None,
        categories=None,
        target_bounds=None,
        classes=None,
        target_shares=None,
        criterion="single",
        B="auto",
        c="auto",
        correction="miller-madow",
        max_rows_per_group=None,
        ledger=None,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        super().__init__(
            k,
            statistic=statistic,
            epsilon=epsilon,
            delta=delta,
            bounds=bounds,
            categories=categories,
            target_bounds=target_bounds,
            classes=classes,
            target_shares=target_shares,
            criterion=criterion,
            max_rows_per_group=max_rows_per_group,
            ledger=ledger,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.B, self.c, self.correction = B, c, correction

    def _plan(self):
        asked = MeasureParameters(self.B, self.c, self.correction)
        statistic = statistic_named(self.statistic, self.correction)
        return replace(super()._plan(), asked=asked, statistic=statistic)
