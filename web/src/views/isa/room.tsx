// How much room the list of instructions has: its width, how wide letters are in it, and which part of it is on screen.
import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { lanesNow } from "../../model/lanes";
import type { Drawing } from "./canvas_column";
import { type IsaColumn, isFrozen, isMovable } from "./columns";
import type { Items } from "./items";
import type { ScrollSpan } from "./minimap";
import { type PlacedColumn, rowHeight } from "./rows";
import type { Sheet } from "./sheet";
import { ANY_LETTERS, type Letters, neededWidth, textWidth, usualTextWidth } from "./widths";

/** Its width on screen tells that of a letter. */
const PROBE = "0000000000";
/** Columns that should be seen beside the whole instruction where the list is wide. */
const SEEN_FIGURES = 6;

export interface Room {
  /** Pixels. */
  width: Signal<number>;
  letters: Signal<Letters>;
  /** Shares of the whole list. */
  onScreen: Signal<ScrollSpan>;
  /** Reads again which part is on screen. */
  measure: () => void;
  /** Scrolls a share of the list into the middle. */
  goTo: (share: number) => void;
}

/** Letters whose widths `useRoom` measures. */
export function LetterProbe() {
  return (
    <div class="isa-probe" aria-hidden="true">
      <span class="mono">{PROBE}</span>
      <span class="digits">{PROBE}</span>
    </div>
  );
}

export function useRoom(box: RefObject<HTMLDivElement | null>, items: Items): Room {
  const width = useSignal(1000);
  const letters = useSignal(ANY_LETTERS);
  const onScreen = useSignal<ScrollSpan>({ top: 0, bottom: 1 });
  const list = () => box.current?.querySelector<HTMLElement>(".list") ?? null;
  const height = items.lines.length * rowHeight();
  const measure = () => {
    const element = list();
    if (!element || !height) return;
    const { scrollTop, clientHeight } = element;
    const [top, bottom] = [scrollTop / height, Math.min(1, (scrollTop + clientHeight) / height)];
    if (top !== onScreen.value.top || bottom !== onScreen.value.bottom) onScreen.value = { top, bottom };
  };
  const goTo = (share: number) => {
    const element = list();
    if (element) element.scrollTop = share * height - element.clientHeight / 2;
  };
  useEffect(measure, [items]);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const room = list()?.clientWidth;
      if (room) {
        width.value = room;
        const [mono, digit] = [".mono", ".digits"].map(
          (name) => (box.current?.querySelector<HTMLElement>(`.isa-probe ${name}`)?.offsetWidth ?? 0) / PROBE.length,
        );
        if (mono && digit && mono !== letters.value.mono) letters.value = { mono, digit };
      }
      measure();
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [items]);
  return { width, letters, onScreen, measure, goTo };
}

interface WidthSources {
  /** The width that the user gave a column. */
  widthOf: (id: string) => number | undefined;
  drawing: Drawing;
  room: Room;
}

/** Columns as wide as their contents need; the text takes what figures beside it leave. */
export function usePlacedColumns(
  sheet: Sheet,
  listed: IsaColumn[],
  { widthOf, drawing, room }: WidthSources,
): PlacedColumn[] {
  const letters = room.letters.value;
  const contents = useMemo(
    () => new Map(listed.map((column) => [column.id, neededWidth(column, sheet, letters)])),
    [sheet.code, sheet.figures, sheet.samples, sheet.live, lanesNow(), letters, listed.map(({ id }) => id).join()],
  );
  const usual = useMemo(() => usualTextWidth(sheet, letters), [sheet.code, letters]);
  const columnWidth = (id: string) => widthOf(id) ?? (id === "canvas" ? drawing.width : (contents.get(id) ?? 0));
  const beside = widthsBesideText(listed, columnWidth);
  const flexibleWidth = () =>
    textWidth({ needed: columnWidth("text"), usual, beside, room: room.width.value }, letters);
  let frozenRight = 0; // of the columns so far that do not scroll sideways
  return listed.map((column) => {
    const isFlexible = column.id === "text" && widthOf("text") === undefined;
    const width = Math.ceil(isFlexible ? flexibleWidth() : columnWidth(column.id));
    if (!isFrozen(column)) return { column, width, left: undefined };
    const left = frozenRight;
    frozenRight += width;
    return { column, width, left };
  });
}

/** What stands beside the text with one figure, with two, and so on: the drawing, the row and these figures. */
function widthsBesideText(listed: IsaColumn[], columnWidth: (id: string) => number): number[] {
  const fixed = listed.filter(({ id }) => id === "canvas" || id === "row");
  const figures = listed.filter(isMovable);
  return Array.from({ length: Math.min(SEEN_FIGURES, figures.length) }, (_, n) =>
    [...fixed, ...figures.slice(0, n + 1)].reduce((sum, { id }) => sum + columnWidth(id), 0),
  );
}
