"""The share of time in which the waves of a slot stall, in bins of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wavewright.analysis.trace.timeline.layers.instructions import instructions
from wavewright.analysis.trace.timeline.layers.stall_layer import stalled_spans

if TYPE_CHECKING:
    import numpy.typing as npt

    from wavewright.model.trace import ThreadTrace

_TRACK_BITS = 50  #: Times lie within 2 ** 49 (places.py), so that track and time fit into one number.
_ORIGIN = 1 << 49


class StalledShares:
    """Stall cycles of every track of the timeline `instructions`, summed up from its start to any time.

    The stalls of a wave never overlap: the share of a bin is a difference of two sums.
    """

    def __init__(self, trace: ThreadTrace) -> None:
        """Sort the stalls by track and time."""
        tracks = instructions(trace).tracks
        self.track_count = 0 if tracks is None else tracks.height
        if tracks is None or not tracks.height:
            self._keys = self._lengths = self._before = np.zeros(0, dtype=np.int64)
            return
        spans = stalled_spans(trace, tracks).drop_nulls("track").sort("track", "begin")
        self._keys = _key(spans["track"].to_numpy(), spans["begin"].to_numpy())
        self._lengths = (spans["end"] - spans["begin"]).to_numpy()
        self._before = np.concatenate([[0], np.cumsum(self._lengths)])[:-1]

    def shares(self, begin: int, width: int, count: int) -> npt.NDArray[np.float64]:
        """Shares of `count` bins of `width` cycles for every track, one after the other: tracks x bins."""
        edges = begin + width * np.arange(count + 1, dtype=np.int64)
        keys = _key(np.arange(self.track_count, dtype=np.int64)[:, None], edges[None, :]).ravel()
        return np.diff(self._upto(keys).reshape(self.track_count, count + 1), axis=1) / width

    def _upto(self, keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Stall cycles of all tracks before a track, and of it up to a time."""
        if not self._keys.size:
            return np.zeros(keys.size)
        at = np.searchsorted(self._keys, keys, side="right") - 1
        since = np.minimum(keys - self._keys[at], self._lengths[at])
        return np.where(at < 0, 0, self._before[at] + since).astype(np.float64)


def _key(track: npt.NDArray[np.int64], time: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return (track.astype(np.int64) << _TRACK_BITS) + np.clip(time, 1 - _ORIGIN, _ORIGIN - 1) + _ORIGIN
