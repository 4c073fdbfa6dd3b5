// The tooltip of the drawing beside the rows: the lines that canvas_column.tsx has for the place of the pointer.
import { tip } from "./state";

export function Tip() {
  const now = tip.value;
  if (!now) return null;
  const isRight = now.x > innerWidth * 0.6;
  const isLow = now.y > innerHeight * 0.7;
  const style = {
    ...(isRight ? { right: `${innerWidth - now.x + 12}px` } : { left: `${now.x + 14}px` }),
    ...(isLow ? { bottom: `${innerHeight - now.y + 8}px` } : { top: `${now.y + 12}px` }),
  };
  return (
    <div class="isa-tip" role="tooltip" style={style}>
      {now.lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
