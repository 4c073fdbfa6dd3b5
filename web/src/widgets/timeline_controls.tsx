// What opens over a timeline: the menu of a track, the panel of all tracks and curves, the name and colour of a flag.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { exact } from "../base/format";
import { matcher } from "../base/matcher";
import { seriesColour } from "../draw/palette";
import { momentText } from "../draw/ticks";
import { arrange, arrangementOf } from "../model/arrangement";
import { changeNote, FLAG_COLOURS, type Flag, flags, goToFlag, removeNote } from "../model/notes";
import { selection } from "../model/selection";
import { axisOrigin, reveal } from "../model/timewindow";
import { frontView } from "../model/view";
import { FilterField } from "./filter_field";
import { stepOf } from "./timeline_arrangement";
import { CurveChooser } from "./timeline_curves";
import type { TimelineState, TrackMenu } from "./timeline_state";

interface Props {
  state: TimelineState;
}

interface Item {
  name: string;
  run: () => void;
  isOff?: boolean;
}

/** Pixels: the room that a menu and the box of a flag need, so that they stay inside of the timeline. */
const MENU_WIDTH = 220;
const MENU_LINE = 26;
const FLAG_BOX_WIDTH = 260;

/** What can be done with a track, or with a group of tracks, whose name then stands in the items. */
function itemsOf(state: TimelineState, { row, level }: TrackMenu): Item[] {
  const isTrack = level >= row.path.length;
  const what = isTrack ? "" : ` ${row.path[level]}`;
  const rest = state.arranged.value.rest;
  const isPinned = state.isPinned(row);
  /** Pinned tracks stand in the order of pinning. */
  const move = (by: 1 | -1) => (isPinned ? null : stepOf({ row, level }, by, rest));
  const items: Item[] = [];
  if (isTrack) items.push({ name: isPinned ? "Unpin" : "Pin to the top", run: () => state.pin(row, !isPinned) });
  items.push({ name: `Hide${what}`, run: () => state.hide({ row, level }) });
  const outer = row.path[0];
  if (isTrack && outer !== undefined) items.push({ name: `Hide ${outer}`, run: () => state.hide({ row, level: 0 }) });
  items.push({ name: `Move${what} up`, run: () => state.move(move(-1)), isOff: !move(-1) });
  items.push({ name: `Move${what} down`, run: () => state.move(move(1)), isOff: !move(1) });
  const { pinned, hidden, moves } = arrangementOf(state.name);
  const isChanged = pinned.length + hidden.length + moves.length > 0 || state.filter.value !== "";
  items.push({ name: "Restore all tracks", run: () => state.restore(), isOff: !isChanged });
  return items;
}

/** The menu of a track or of a group of tracks. */
export function TrackMenuBox({ state }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const menu = state.menu.value;
  const hide = () => {
    state.menu.value = null;
  };
  useEffect(() => {
    if (menu) box.current?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
  }, [menu, state]);
  useOutsidePress(box, menu !== null, hide);
  if (!menu) return null;
  const close = () => {
    hide();
    focusTimeline(box.current);
  };
  const { row, level } = menu;
  const name = [...row.path.slice(0, level + 1), level >= row.path.length ? row.label : ""].filter(Boolean).join(" ");
  const items = itemsOf(state, menu);
  const { width, height } = state.size.value;
  const style = {
    left: `${Math.max(0, Math.min(menu.x, width - MENU_WIDTH))}px`,
    top: `${Math.max(0, Math.min(menu.y, height - MENU_LINE * (items.length + 1) - 8))}px`,
  };
  return (
    <div
      class="timeline-menu"
      role="menu"
      aria-label={`Track ${name}`}
      ref={box}
      style={style}
      onKeyDown={(event) => stepInMenu(event, box.current, close)}
    >
      <p>{name}</p>
      {items.map((item) => (
        <button
          type="button"
          class="quiet"
          role="menuitem"
          key={item.name}
          disabled={item.isOff ?? false}
          onClick={() => {
            item.run();
            close();
          }}
        >
          {item.name}
        </button>
      ))}
    </div>
  );
}

/** Up and down lead through the menu, round its ends; Escape and Tab close it. */
function stepInMenu(event: KeyboardEvent, box: HTMLElement | null, close: () => void): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") close();
  else if (step) {
    const buttons = [...(box?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Filter, hidden tracks, curves. */
export function TracksPanel({ state }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const isOpen = state.panelIsOpen.value;
  useEffect(() => {
    if (isOpen) box.current?.querySelector("input")?.focus();
  }, [isOpen]);
  if (!isOpen) return null;
  const { hidden, pinned, moves } = arrangementOf(state.name);
  const { rest, hiddenCount } = state.arranged.value;
  const close = () => {
    state.panelIsOpen.value = false;
  };
  return (
    <div
      class="timeline-panel"
      role="group"
      aria-label="Tracks and curves"
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <div>
        <FilterField
          query={state.filter}
          placeholder="tracks: name or /regex/"
          label="Show tracks whose name contains"
          problem={state.filter.value ? matcher(state.filter.value).problem : ""}
        />
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ×
        </button>
      </div>
      <p>
        {exact(rest.length)} tracks{pinned.length ? `, ${exact(pinned.length)} pinned` : ""}
        {hiddenCount ? `, ${exact(hiddenCount)} hidden` : ""}{" "}
        <button
          type="button"
          class="link"
          data-action="restore"
          disabled={!hidden.length && !pinned.length && !moves.length && !state.filter.value}
          onClick={() => state.restore()}
        >
          restore all
        </button>
      </p>
      {hidden.length ? (
        <ul class="hidden-tracks">
          {hidden.slice(0, MOST_LISTED).map((name) => (
            <li key={name}>
              <button
                type="button"
                class="link"
                title="Show it again"
                onClick={() => arrange(state.name, { hidden: hidden.filter((other) => other !== name) })}
              >
                show {nameOf(state, name)}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <p class="faint-text">Right click on a label, or Shift+F10: pin, hide, move. Drag a label to move it.</p>
      <CurveChooser state={state} />
    </div>
  );
}

/** Hidden tracks and flags that are listed; further ones are left out. */
const MOST_LISTED = 30;

function nameOf(state: TimelineState, key: string): string {
  const row = state.rowOf(key);
  return row ? [...row.path, row.label].filter(Boolean).join(" ") : key.replace(/^▾ /, "");
}

/** At a fresh selection of tracks: what is inside. */
export function ListButton({ state }: Props) {
  const { range } = selection.value;
  if (!range || state.measuring.value) return null;
  const frame = state.frame.value;
  const x = Math.min(frame.timeToX(range.end), frame.parts.width - 4);
  if (frame.timeToX(range.begin) > frame.parts.width || x < frame.parts.gutter + 60) return null;
  const right = `${Math.max(0, frame.parts.width - x + 4)}px`;
  const top = `${(frame.beside ?? frame).parts.top + 22}px`;
  return (
    <button
      type="button"
      class="timeline-list"
      data-action="list"
      title="What is inside the selected time and tracks (Enter)"
      style={{ right, top }}
      onClick={() => frontView(state.unit === "ns" ? "run_area" : "area")}
    >
      list
    </button>
  );
}

/** Ready to be written over when it appears. */
const selectOnce = (input: HTMLInputElement | null) => input?.select();

/** Calls `close` when the pointer is pressed outside of a box, while that is open. */
function useOutsidePress(box: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    const press = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) close();
    };
    window.addEventListener("pointerdown", press, true);
    return () => window.removeEventListener("pointerdown", press, true);
  }, [isOpen]);
}

/** Gives the focus back to the timeline that a box stands over. */
function focusTimeline(box: HTMLElement | null): void {
  box?.parentElement?.querySelector<HTMLElement>(".timeline")?.focus({ preventScroll: true });
}

/** Name and colour of a flag, and the others. */
export function FlagBox({ state }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const flag = flags.value.find((candidate) => candidate.id === state.flag.value);
  const hide = () => {
    state.flag.value = null;
  };
  useOutsidePress(box, state.flag.value !== null, hide);
  if (!flag) return null;
  const frame = state.frame.value;
  const { width, gutter } = frame.parts;
  const left = `${Math.max(gutter, Math.min(frame.timeToX(flag.time), width - FLAG_BOX_WIDTH))}px`;
  const top = `${(frame.beside ?? frame).parts.top + 2}px`;
  const close = () => {
    hide();
    focusTimeline(box.current);
  };
  return (
    <div
      class="timeline-menu flag-box"
      role="dialog"
      aria-label="Flag"
      ref={box}
      style={{ left, top }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" && event.key !== "Enter") return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <p>{momentText(flag.time, state.unit, axisOrigin.value)}</p>
      <input
        key={flag.id}
        ref={selectOnce}
        aria-label="Name of the flag"
        maxLength={200}
        value={flag.text}
        title={flag.text}
        readOnly={flag.isOfOthers}
        onInput={(event) => changeNote(flag.id, event.currentTarget.value)}
      />
      <FlagColours flag={flag} />
      <FlagButtons state={state} flag={flag} close={close} />
      <FlagList state={state} flag={flag} />
    </div>
  );
}

/** To the flags beside it, and away with it. */
function FlagButtons({ state, flag, close }: Props & { flag: Flag; close: () => void }) {
  const go = (step: 1 | -1) => {
    state.flag.value = goToFlag(step);
  };
  return (
    <div>
      <button
        type="button"
        class="quiet"
        title="The flag before (,)"
        aria-label="The flag before"
        onClick={() => go(-1)}
      >
        ◂
      </button>
      <button type="button" class="quiet" title="The next flag (.)" aria-label="The next flag" onClick={() => go(1)}>
        ▸
      </button>
      <button
        type="button"
        class="quiet"
        data-action="remove-flag"
        hidden={flag.isOfOthers}
        onClick={() => {
          removeNote(flag.id);
          close();
        }}
      >
        Remove
      </button>
    </div>
  );
}

function FlagColours({ flag }: { flag: Flag }) {
  return (
    <div role="radiogroup" aria-label="Colour of the flag" hidden={flag.isOfOthers}>
      {Array.from({ length: FLAG_COLOURS }, (_, number) => (
        <button
          type="button"
          class="flag-colour"
          role="radio"
          key={number}
          aria-label={`Colour ${number + 1}`}
          aria-checked={flag.colour === number}
          style={{ background: seriesColour(number) }}
          onClick={() => changeNote(flag.id, flag.text, { colour: number })}
        />
      ))}
    </div>
  );
}

/** All flags, to go to another one. */
function FlagList({ state, flag }: Props & { flag: Flag }) {
  if (flags.value.length < 2) return null;
  return (
    <ol class="flag-list">
      {flags.value.slice(0, MOST_LISTED).map((each) => (
        <li key={each.id}>
          <button
            type="button"
            class="link"
            aria-current={each.id === flag.id}
            onClick={() => {
              reveal(each.time);
              state.flag.value = each.id;
            }}
          >
            <i style={{ background: seriesColour(each.colour) }} />
            {each.text || "no name"}
          </button>
        </li>
      ))}
    </ol>
  );
}
