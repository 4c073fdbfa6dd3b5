// What the pointer is over, in words: exact begin and length, kind, and what the view adds.
import { useSignal, useSignalEffect } from "@preact/signals";
import { exact } from "../base/format";
import { durationText, momentText } from "../draw/ticks";
import { kindName, spanName } from "../draw/timeline_spans";
import type { Span } from "../model/layers";
import { selection } from "../model/selection";
import { axisOrigin } from "../model/timewindow";
import type { Hit, TimelineState } from "./timeline_state";

interface Props {
  state: TimelineState;
  tooltipOf?: ((span: Span) => string[] | Promise<string[]>) | undefined;
}

const DELAY_MS = 90;

function lines(hit: Hit, state: TimelineState): string[] {
  const { span, gap, row } = hit;
  const { unit, clockMhz } = state;
  const where = [...row.path, row.label].filter(Boolean).join(" · ");
  const around = (range: { begin: number; end: number }) => [
    `start ${momentText(range.begin, unit, axisOrigin.value)}`,
    `length ${durationText(range.end - range.begin, unit, clockMhz)}`,
  ];
  if (span) {
    const what = kindName(span.layer, span.kind);
    if (span.count === 1) return [what, ...around(span), where];
    return [spanName(span, what), `${exact(span.count)} short spans`, ...around(span), where];
  }
  return gap ? ["nothing here", ...around(gap), where] : [];
}

export function TimelineTooltip({ state, tooltipOf }: Props) {
  const more = useSignal<{ key: string; lines: string[] }>({ key: "", lines: [] });
  const hit = state.hit.value;
  const keyOf = (span: Span) => `${span.layer.name}/${span.track}/${span.begin}/${span.item}`;
  useSignalEffect(() => {
    const span = state.hit.value?.span;
    if (!span || !tooltipOf || span.count > 1 || span.item < 0) return;
    const key = keyOf(span);
    const timer = setTimeout(() => {
      Promise.resolve(tooltipOf(span)).then(
        (lines) => {
          more.value = { key, lines };
        },
        () => {},
      );
    }, DELAY_MS);
    return () => clearTimeout(timer);
  });
  // What was under the pointer when something was selected is known, and would cover what the selection shows.
  const hushed = useSignal("");
  const nameOf = (hit: Hit | null) => (hit ? `${hit.layer.name}/${hit.track}/${hit.span?.begin}` : "");
  useSignalEffect(() => {
    const isNew = Object.values(selection.value).some((part) => part !== undefined);
    hushed.value = isNew ? nameOf(state.hit.peek()) : "";
  });
  useSignalEffect(() => {
    if (nameOf(state.hit.value) !== hushed.peek()) hushed.value = "";
  });
  const pointer = state.pointer.value;
  const text = hit ? lines(hit, state) : [];
  if (!hit || !pointer || !text.length || nameOf(hit) === hushed.value) return null;
  const range = hit.span ?? hit.gap;
  const extra = hit.span && keyOf(hit.span) === more.value.key ? more.value.lines : [];
  const { width, height } = state.size.value;
  const isRight = pointer.x > width / 2;
  const isLow = pointer.y > height / 2;
  // Above or below the track, not on it: what is read stays in sight.
  const track = state.frame.value.trackToY(hit.layer, hit.track) ?? { y: pointer.y, height: 0 };
  const above = Math.min(pointer.y - 4, track.y);
  const below = Math.max(pointer.y + 8, track.y + track.height);
  const style = {
    [isRight ? "right" : "left"]: `${isRight ? width - pointer.x + 14 : pointer.x + 14}px`,
    [isLow ? "bottom" : "top"]: `${isLow ? height - above + 6 : below + 6}px`,
  };
  return (
    <div
      class="tooltip"
      role="status"
      style={style}
      data-begin={range?.begin}
      data-length={range ? range.end - range.begin : undefined}
      data-kind={hit.span?.kind}
      data-item={hit.span?.item}
      data-count={hit.span?.count}
      data-track={hit.track}
      data-layer={hit.layer.name}
      data-level={hit.span?.level}
    >
      {[...text.slice(0, 1), ...extra, ...text.slice(1)].map((line, i) => (
        <div key={`${i}${line}`} class={i === 0 ? "strong" : ""}>
          {line}
        </div>
      ))}
    </div>
  );
}
