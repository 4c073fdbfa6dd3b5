// Rows of one height, of which only those on screen exist.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { describeHeader, describeRows, stepIntoRow, stepToHeader } from "./grid_keys";

interface Props {
  count: number;
  rowHeight: number;
  row: (index: number) => ComponentChildren;
  /** Scrolled into view, to the middle, whenever it changes and is not visible. */
  reveal?: number | undefined;
  header?: ComponentChildren;
  /** Drawn over the whole height of the list, scrolling with it: arrows, for example. Gets the first and last row shown. */
  overlay?: (first: number, last: number) => ComponentChildren;
  class?: string;
  label: string;
  /** How many columns its rows have. */
  columnCount?: number;
  onKeyDown?: ((event: KeyboardEvent) => void) | undefined;
}

/** Rows above and below those on screen that exist, too: a scroll shows them before others are made. */
const SPARE_ROWS = 8;

export function VirtualList(props: Props) {
  const { count, rowHeight, row, reveal, header, overlay, label } = props;
  const box = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const span = useSignal({ first: 0, last: 60 }); // before the first measurement
  /** Whether the revealed row was on screen: then it is to be seen after a resize, too. */
  const wasSeen = useRef(false);

  const measure = () => {
    const element = box.current;
    if (!element) return;
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - SPARE_ROWS);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + SPARE_ROWS;
    if (first !== span.value.first || last !== span.value.last) span.value = { first, last };
  };
  const isSeen = (element: HTMLElement, place: number) => {
    const [top, above] = [place * rowHeight, head.current?.offsetHeight ?? 0];
    return top >= element.scrollTop && top + rowHeight + above <= element.scrollTop + element.clientHeight;
  };
  const bring = () => {
    const element = box.current;
    if (!element || reveal === undefined || reveal < 0) return;
    if (!isSeen(element, reveal)) element.scrollTop = Math.max(0, reveal * rowHeight - element.clientHeight / 2);
    wasSeen.current = true;
  };
  useLayoutEffect(bring, [reveal, rowHeight]);
  const onScroll = () => {
    measure();
    if (box.current?.clientHeight) wasSeen.current = reveal !== undefined && isSeen(box.current, reveal);
  };
  const onResize = useRef(measure);
  onResize.current = () => {
    measure();
    // A list in a hidden tab cannot scroll, and one that shrinks may lose what was to be seen.
    if (box.current?.clientHeight && wasSeen.current) bring();
  };
  useEffect(() => {
    const observer = new ResizeObserver(() => onResize.current());
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  const body = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target === box.current || event.altKey || event.key === "Escape") props.onKeyDown?.(event);
    if (!event.defaultPrevented && box.current) stepIntoRow(event, box.current);
    if (!event.defaultPrevented && box.current && box.current.scrollTop < rowHeight) stepToHeader(event, box.current);
  };
  const first = Math.min(span.value.first, count);
  useLayoutEffect(() => {
    if (head.current) describeHeader(head.current);
    if (box.current && body.current) describeRows(box.current, body.current, first + (header ? 2 : 1));
  });

  const last = Math.min(span.value.last, count);
  const rows: ComponentChildren[] = [];
  for (let index = first; index < last; index++) rows.push(row(index));
  return (
    <div
      class={`list ${props.class ?? ""}`}
      ref={box}
      onScroll={onScroll}
      tabIndex={0}
      role="grid"
      aria-label={label}
      aria-rowcount={count + (header ? 1 : 0)}
      aria-colcount={props.columnCount}
      onKeyDown={onKeyDown}
    >
      {header ? (
        <div class="list-head" role="rowgroup" ref={head}>
          {header}
        </div>
      ) : null}
      <div class="list-body" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        <div role="rowgroup" ref={body} style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows}
        </div>
        {overlay ? (
          <div class="list-overlay" aria-hidden="true">
            {overlay(first, last)}
          </div>
        ) : null}
      </div>
    </div>
  );
}
