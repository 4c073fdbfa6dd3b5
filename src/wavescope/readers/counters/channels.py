"""L2 channels of which not all counters were measured: a ratio of such a channel has no value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.model.losses import Loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavescope.model.counters import System
    from wavescope.readers.counters.execution import Pass

_NAMED = 6


def partner_losses(passes: Sequence[Pass], system: System) -> list[Loss]:
    """One loss for channels that lack counters which others have, or that the GPU has and no counter names."""
    measured: dict[str, set[int]] = {}
    for pass_ in passes:
        for spelled in pass_.counters:
            if spelled.named.channel is not None:
                measured.setdefault(spelled.named.counter, set()).add(spelled.named.channel)
    if not measured:
        return []
    all_channels = set().union(*measured.values())
    count = max(len(all_channels), int(system.l2_channel_count or 0))
    partial = {name: len(channels) for name, channels in measured.items() if len(channels) < count}
    if not partial:
        return []
    whole = set.intersection(*measured.values())
    listed = [f"{name} of {channels}" for name, channels in sorted(partial.items(), key=lambda pair: pair[1])]
    more = f" and {len(listed) - _NAMED} counters more" if len(listed) > _NAMED else ""
    detail = f"{', '.join(listed[:_NAMED])}{more}, of {count} channels"
    return [Loss("counter_partner", count - len(whole), detail=detail)]
