// A toolbar of one line, whatever its width: what does not fit, from its end, stands in a menu.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import "./fitting_bar.css";
import { Popup } from "./popup";

export interface BarItem {
  id: string;
  content: ComponentChildren;
}

const MORE_WIDTH = 64;

/** How many of these widths fit, with room for the menu unless all do; the first is there in any case, and shrinks. */
export function fittingCount(widths: number[], gap: number, room: number): number {
  const whole = widths.reduce((sum, width) => sum + width, 0) + gap * Math.max(0, widths.length - 1);
  if (whole <= room) return widths.length;
  let [count, taken] = [0, MORE_WIDTH];
  for (const width of widths) {
    taken += width + gap;
    if (taken > room) break;
    count += 1;
  }
  return Math.max(1, count);
}

/** The most important items come first. */
export function FittingBar({ items, class: more }: { items: BarItem[]; class?: string }) {
  const bar = useRef<HTMLDivElement>(null);
  const widths = useRef(new Map<string, number>());
  const fitting = useSignal(items.length);
  const fit = () => {
    const element = bar.current;
    if (!element?.clientWidth) return;
    const range = document.createRange();
    for (const item of element.querySelectorAll<HTMLElement>(":scope > .bar-item")) {
      range.selectNodeContents(item); // the first may have shrunk: what counts is what is in it
      widths.current.set(item.dataset.item ?? "", range.getBoundingClientRect().width);
    }
    const style = getComputedStyle(element);
    const room = element.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    const known = items.map(({ id }) => widths.current.get(id) ?? 0);
    fitting.value = fittingCount(known, Number.parseFloat(style.columnGap) || 0, room);
  };
  useLayoutEffect(fit);
  const latest = useRef(fit);
  latest.current = fit;
  useEffect(() => {
    const observer = new ResizeObserver(() => latest.current());
    if (bar.current) observer.observe(bar.current);
    return () => observer.disconnect();
  }, []);
  const shown = ({ id, content }: BarItem) => (
    <span class="bar-item" key={id} data-item={id}>
      {content}
    </span>
  );
  const rest = items.slice(fitting.value);
  return (
    <div class={`toolbar fitting-bar ${more ?? ""}`} ref={bar}>
      {items.slice(0, fitting.value).map(shown)}
      {rest.length ? (
        <span class="bar-more">
          <Popup text="More ▾" name="More" hint="What does not fit into the toolbar">
            {() => rest.map(shown)}
          </Popup>
        </span>
      ) : null}
    </div>
  );
}
