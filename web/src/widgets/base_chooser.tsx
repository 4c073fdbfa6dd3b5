// Which of the other documents this one is compared with.
import type { Signal } from "@preact/signals";
import { OtherWay } from "./other_way";

export function BaseChooser({
  others,
  base,
  view,
}: {
  others: { number: number; label: string }[];
  base: Signal<number>;
  view: string;
}) {
  return (
    <>
      <OtherWay base={base.value} view={view} />
      <label>
        against{" "}
        <select
          value={base.value}
          data-choose="base"
          onChange={(event) => {
            base.value = Number(event.currentTarget.value);
          }}
        >
          {others.map((line) => (
            <option key={line.number} value={line.number}>
              {line.label}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
