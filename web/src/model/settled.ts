// A value that changes many times a second, such as the time on screen, for questions that should not be asked so often.
import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals";

const SETTLED_MS = 120;

/** The value of a signal once it has not changed for a moment. */
export function useSettled<T>(source: ReadonlySignal<T>): ReadonlySignal<T> {
  const settled = useSignal(source.peek());
  useSignalEffect(() => {
    const value = source.value;
    const timer = setTimeout(() => {
      settled.value = value;
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  });
  return settled;
}
