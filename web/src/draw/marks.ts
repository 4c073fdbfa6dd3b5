// Marks of points in a plot: a shape for each kind of thing.
import type { Painter } from "./painter";

export const SHAPES = ["circle", "square", "triangle", "diamond", "down"] as const;
export type Shape = (typeof SHAPES)[number];

/** Around the middle, in radii of the circle: about as large as it looks. */
const CORNERS: Record<Exclude<Shape, "circle">, [x: number, y: number][]> = {
  square: [
    [-0.85, -0.85],
    [0.85, -0.85],
    [0.85, 0.85],
    [-0.85, 0.85],
  ],
  triangle: [
    [0, -1.1],
    [1, 0.8],
    [-1, 0.8],
  ],
  down: [
    [0, 1.1],
    [1, -0.8],
    [-1, -0.8],
  ],
  diamond: [
    [0, -1.2],
    [1.2, 0],
    [0, 1.2],
    [-1.2, 0],
  ],
};

/** The corners of a shape around a point, as x0, y0, x1, y1, … */
export function outline(shape: Shape, x: number, y: number, radius: number): number[] {
  if (shape !== "circle") return CORNERS[shape].flatMap(([dx, dy]) => [x + dx * radius, y + dy * radius]);
  return Array.from({ length: 20 }, (_, n) => (n * Math.PI) / 10).flatMap((angle) => [
    x + radius * Math.cos(angle),
    y + radius * Math.sin(angle),
  ]);
}

interface Mark {
  shape: Shape;
  /** Of its middle. */
  x: number;
  y: number;
  radius: number;
  fill: string;
  edge: string;
}

export function paintMark(painter: Painter, { shape, x, y, radius, fill, edge }: Mark): void {
  const points = outline(shape, x, y, radius);
  painter.polygon(points, fill);
  painter.polyline([...points, points[0] as number, points[1] as number], edge, 1);
}
