// The choices of roofs: measured peaks, peaks of the data sheet, or the better known of both.

/** Floating-point or integer operations. */
export type Work = "flop" | "iop";

/** Kernels in an answer about all of them: MOST_KERNELS of page/counters/kernel_answers.py. */
export const MOST_KERNELS = 300;

export const CEILINGS = [
  {
    choice: "best",
    title: "measured roofs, else theoretical",
    hint: "Measured by a benchmark where one was run, else from rates and clocks",
  },
  { choice: "empirical", title: "measured roofs", hint: "What a benchmark reached on the same machine" },
  { choice: "theoretical", title: "theoretical roofs", hint: "Rates of the hardware times the highest clock" },
];
