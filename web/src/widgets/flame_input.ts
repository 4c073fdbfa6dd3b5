// Pointer, wheel and keys of a flame graph.
import { FLAME_ROW, type FlameLayout, type FlameWindow, frameAt, zoomed } from "../draw/flame";

export interface FlameStage {
  layout: () => FlameLayout;
  window: () => FlameWindow;
  show: (window: FlameWindow) => void;
  size: () => { width: number; height: number };
  /** The frame that keys start from. */
  cursor: () => number;
  children: (frame: number) => number[];
  parent: (frame: number) => number;
  hover: (frame: number, x: number, y: number) => void;
  /** Chosen by a click or Enter: zoomed to. */
  choose: (frame: number) => void;
  /** Reached by arrow keys: selected only. */
  step: (frame: number) => void;
  reset: () => void;
}

const LEAST_DRAG = 4;
const ZOOM_STEP = 1.15;

export class FlameInput {
  private drag: { x: number; y: number; window: FlameWindow; hasMoved: boolean } | null = null;

  /** The stage of the latest rendering. */
  constructor(private readonly latest: { current: FlameStage }) {}

  private get stage(): FlameStage {
    return this.latest.current;
  }

  private at(event: MouseEvent): number {
    const { stage } = this;
    return frameAt(stage.layout(), stage.window(), { x: event.offsetX, y: event.offsetY }, stage.size());
  }

  readonly onPointerDown = (event: PointerEvent) => {
    this.drag = { x: event.offsetX, y: event.offsetY, window: this.stage.window(), hasMoved: false };
  };

  readonly onPointerMove = (event: PointerEvent) => {
    const { drag, stage } = this;
    if (drag && event.buttons) {
      const [x, y] = [event.offsetX - drag.x, event.offsetY - drag.y];
      drag.hasMoved ||= Math.hypot(x, y) >= LEAST_DRAG;
      if (drag.hasMoved) {
        const length = drag.window.end - drag.window.begin;
        const begin = Math.min(Math.max(drag.window.begin - (x / stage.size().width) * length, 0), 1 - length);
        const down = drag.window.rootAt === "top" ? -y : y;
        stage.show({ ...drag.window, begin, end: begin + length, scroll: this.scrolled(drag.window.scroll + down) });
        stage.hover(-1, 0, 0);
        return;
      }
    }
    stage.hover(this.at(event), event.offsetX, event.offsetY);
  };

  readonly onPointerLeave = () => this.stage.hover(-1, 0, 0);

  readonly onClick = (event: MouseEvent) => {
    const wasDragged = this.drag?.hasMoved;
    this.drag = null;
    const frame = this.at(event);
    if (!wasDragged && frame >= 0) this.stage.choose(frame);
  };

  readonly onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const { stage } = this;
    const window = stage.window();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = (event.deltaY || event.deltaX) * (window.rootAt === "top" ? 1 : -1);
      stage.show({ ...window, scroll: this.scrolled(window.scroll + by) });
      return;
    }
    const around = window.begin + (event.offsetX / stage.size().width) * (window.end - window.begin);
    stage.show(zoomed(window, event.deltaY > 0 ? ZOOM_STEP : 1 / ZOOM_STEP, around));
  };

  readonly onKeyDown = (event: KeyboardEvent) => {
    const { stage } = this;
    const frame = stage.cursor();
    const down = stage.window().rootAt === "top" ? "ArrowDown" : "ArrowUp";
    const up = down === "ArrowDown" ? "ArrowUp" : "ArrowDown";
    const siblings = frame > 0 ? stage.children(stage.parent(frame)) : [];
    const place = siblings.indexOf(frame);
    const targets: Record<string, number | undefined> = {
      [down]: stage.children(frame)[0],
      [up]: frame > 0 ? stage.parent(frame) : undefined,
      ArrowLeft: siblings[place - 1],
      ArrowRight: siblings[place + 1],
    };
    if (event.key in targets) {
      const next = targets[event.key];
      if (next !== undefined) stage.step(next);
    } else if (event.key === "Enter") stage.choose(frame);
    else if (event.key === "Escape") stage.reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  private scrolled(to: number): number {
    const most = Math.max(0, this.stage.layout().deepest * FLAME_ROW - this.stage.size().height);
    return Math.min(Math.max(to, 0), most);
  }
}
