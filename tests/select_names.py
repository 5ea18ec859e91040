"""A selector of names that lets a test set the grids, which the public selector does not."""

from dataclasses import replace

from skdpmic import PrivateSelectKBest
from skdpmic.selection.scoring_plan import MeasureParameters
from skdpmic.statistics.registry import statistic_named


class SelectNames(PrivateSelectKBest):
    """PrivateSelectKBest with B, c and correction; its default statistic is MICr."""

    def __init__(
        self, k=10, *, statistic="mic_r", criterion="single", B="auto", c="auto", correction="miller-madow", **others
    ):
        super().__init__(k, statistic=statistic, criterion=criterion, **others)
        self.B, self.c, self.correction = B, c, correction

    @classmethod
    def _get_param_names(cls):
        return sorted({*PrivateSelectKBest._get_param_names(), "B", "c", "correction"})

    def _plan(self):
        asked = MeasureParameters(self.B, self.c, self.correction)
        statistic = statistic_named(self.statistic, self.correction)
        return replace(super()._plan(), asked=asked, statistic=statistic)
