// One moment in the middle of the timelines.
import { bounds, show, shown } from "../model/timewindow";
import { frontView } from "../model/view";

/** Of the whole time, when all of it is on screen and one moment could not be seen. */
const CLOSER = 1 / 20;

export function showTime(time: number, view: string): void {
  const [now, all] = [shown.value.end - shown.value.begin, bounds.value.end - bounds.value.begin];
  const length = Math.min(now, all * CLOSER);
  show({ begin: time - length / 2, end: time + length / 2 });
  frontView(view);
}
