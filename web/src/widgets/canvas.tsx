// A canvas that draws itself again, once per frame, whenever a signal that its drawing reads has changed.
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { CanvasPainter, dotsPerPixel, type Painter, SvgPainter } from "../draw/painter";

export interface Size {
  width: number;
  height: number;
}

export type Paint = (painter: Painter, size: Size) => void;

export interface CanvasEvents {
  onPointerDown?: (event: PointerEvent) => void;
  onPointerMove?: (event: PointerEvent) => void;
  onPointerUp?: (event: PointerEvent) => void;
  onPointerCancel?: (event: PointerEvent) => void;
  onPointerLeave?: (event: PointerEvent) => void;
  onClick?: (event: MouseEvent) => void;
  onDblClick?: (event: MouseEvent) => void;
  onContextMenu?: (event: MouseEvent) => void;
  onWheel?: (event: WheelEvent) => void;
}

interface Props {
  paint: Paint;
  /** What it shows, in words, for those who cannot see it; empty = what is around it says so. */
  label: string;
  /** Height in pixels; absent = all that the parent gives. */
  height?: number;
  events?: CanvasEvents;
  canvasRef?: { current: HTMLCanvasElement | null };
}

export function Canvas({ paint, label, height, events, canvasRef }: Props) {
  const own = useRef<HTMLCanvasElement>(null);
  const latest = useRef(paint);
  latest.current = paint;
  const redraw = useRef<() => void>(() => {});
  redraw.current();

  useEffect(() => {
    const canvas = own.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    if (canvasRef) canvasRef.current = canvas;
    const painter = new CanvasPainter(context);
    let frame = 0;
    let stop = () => {};
    // Told by the observer: to ask the canvas in a frame would lay out the page once more.
    let size: Size = { width: canvas.clientWidth, height: canvas.clientHeight };
    const draw = () => {
      frame = 0;
      stop();
      let isPainted = false;
      stop = effect(() => {
        // Signals may change many times before the next frame: only that frame draws.
        if (isPainted) {
          soon();
          return;
        }
        isPainted = true;
        const { width, height } = size;
        if (!width || !height) return; // behind another tab: the observer calls when it is seen again
        const ratio = dotsPerPixel();
        if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
          canvas.width = Math.round(width * ratio);
          canvas.height = Math.round(height * ratio);
        }
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        latest.current(painter, size);
      });
    };
    const soon = () => {
      if (!frame) frame = requestAnimationFrame(draw);
    };
    redraw.current = soon;
    const observer = new ResizeObserver(() => {
      size = { width: canvas.clientWidth, height: canvas.clientHeight };
      soon();
    });
    observer.observe(canvas);
    draw();
    return () => {
      stop();
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, [canvasRef]);

  const style = height === undefined ? { width: "100%", height: "100%" } : { width: "100%", height: `${height}px` };
  const words = label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": true };
  return <canvas ref={own} class="canvas" style={style} {...words} {...events} />;
}

/** The same drawing as SVG text. */
export function paintedSvg(paint: Paint, size: Size, background: string): string {
  const painter = new SvgPainter(size.width, size.height);
  painter.rect(0, 0, size.width, size.height, background);
  paint(painter, size);
  return painter.toString();
}

/** The same drawing as PNG, at twice the resolution. */
export async function paintedPng(paint: Paint, size: Size, background: string): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = size.width * 2;
  canvas.height = size.height * 2;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no canvas");
  context.scale(2, 2);
  const painter = new CanvasPainter(context);
  painter.rect(0, 0, size.width, size.height, background);
  paint(painter, size);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large")))),
  );
}
