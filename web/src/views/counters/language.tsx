// The language of derived counters, in short.

const CALLS: [call: string, value: string][] = [
  ["sum[x, axis=A]", "also mean, max, min: over one axis or [A, B]; without axis= over all"],
  ["max(x, y)", "also min: value by value"],
  ["select[x, i, axis=A]", "index i, or a range i:j:step"],
  ["remove[x, i, axis=A]", "without index i"],
  ["delta[x, axis=A]", "difference to the value before"],
  ["linear(n, axis=A)", "0, 1, … n - 1"],
];
const NAMES: [name: string, value: string][] = [
  ["a counter", "with or without SQ_: what each CU counted in each step"],
  ["SCLOCK", "first cycle of each step"],
  ["RCLOCK", "realtime pairs"],
  ["RCLOCK_MHZ, SCLOCK_MHZ", "frequency of the wall clock, of the shader clock"],
  ["STEP_CYCLES", "cycles of a step"],
  ["NUM_XCC, NUM_SE, NUM_CU, NUM_SAMPLES", "sizes of the axes"],
];

export function Language() {
  return (
    <div class="language">
      <p>
        One definition per line, <code>name := expression</code>; <code>#</code> begins a comment; names that begin with{" "}
        <code>_</code> are not shown. Definitions may use each other and the built-in ones. Values are tensors with the
        axes <code>XCC</code>, <code>SE</code>, <code>CU</code> and <code>TIME</code>; an axis of size 1 is repeated.
      </p>
      <p>
        Loosest first: <code>|</code>, <code>&</code>, <code>{"== < > <= >="}</code>, <code>+ -</code>, <code>* /</code>
        , minus. Comparisons give 0 or 1.
      </p>
      <dl class="keys">
        {[...CALLS, ...NAMES].map(([term, meaning]) => (
          <>
            <dt>
              <code>{term}</code>
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
      <p>
        Example:{" "}
        <code>LDS_share := 200 * sum[ACTIVE_INST_LDS, axis=[SE, CU]] / sum[BUSY_CU_CYCLES, axis=[SE, CU]]</code>
      </p>
    </div>
  );
}
