"""Counts what one process does, for Prometheus: requests, and the work of its workers.

A request adds to plain dictionaries; metric families are made of them when metrics are requested.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds: a cached page stands in the first, a timeout in the last."""


class _Series:
    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0


class Metrics(Collector):
    """The counts of one process. Labels are route templates, never paths, so they are few."""

    def __init__(self) -> None:
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._series: dict[tuple[str, str, int], _Series] = {}
        self._tallies: dict[str, tuple[str, str, Counter[str]]] = {}
        self._process = ProcessCollector(registry=None)
        self._build: dict[str, str] = {}

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one finished request."""
        series = self._series.get((method, route, status))
        if series is None:
            series = self._series[method, route, status] = _Series()
        series.buckets[bisect_left(BUCKETS, seconds)] += 1
        series.seconds += seconds

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Register a gauge whose value is read by calling `read`."""
        self._gauges[name] = (text, read)

    def tally(self, name: str, text: str, label: str) -> Counter[str]:
        """The counter called `name`, by the few values of one label; the caller adds to it."""
        return self._tallies.setdefault(name, (text, label, Counter()))[2]

    def build(self, **words: str) -> None:
        """Set the labels of `svc_build_info`, such as the version."""
        self._build = words

    def collect(self) -> Iterator[Metric]:
        """The metric families with their present values."""
        requests = CounterMetricFamily(
            "svc_requests", "Finished requests.", labels=("method", "route", "status")
        )
        seconds = HistogramMetricFamily(
            "svc_request_seconds", "Time to answer.", labels=("method", "route")
        )
        for (method, route, status), series in self._series.items():
            requests.add_metric((method, route, str(status)), sum(series.buckets))
        for (method, route), series in self._by_route().items():
            seconds.add_metric((method, route), _cumulative(series), sum_value=series.seconds)
        yield requests
        yield seconds
        for name, (text, read) in self._gauges.items():
            yield GaugeMetricFamily(name, text, value=read())
        for name, (text, label, counts) in self._tallies.items():
            tally = CounterMetricFamily(name, text, labels=(label,))
            for value, count in counts.items():
                tally.add_metric((value,), count)
            yield tally
        yield InfoMetricFamily("svc_build", "What runs.", value=self._build)
        yield from self._process.collect()

    def _by_route(self) -> dict[tuple[str, str], _Series]:
        by_route: dict[tuple[str, str], _Series] = {}
        for (method, route, _), series in self._series.items():
            route_series = by_route.setdefault((method, route), _Series())
            route_series.seconds += series.seconds
            for index, count in enumerate(series.buckets):
                route_series.buckets[index] += count
        return by_route


def _cumulative(series: _Series) -> list[tuple[str, float]]:
    total = 0
    rows: list[tuple[str, float]] = []
    for limit, count in zip((*map(str, BUCKETS), "+Inf"), series.buckets, strict=True):
        total += count
        rows.append((limit, total))
    return rows
