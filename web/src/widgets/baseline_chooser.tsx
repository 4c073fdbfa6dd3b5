// Which of the other documents this one is compared with, and whether changes stand beside the figures of all views.
import { Fragment } from "preact";
import type { DocumentLine } from "../data/ask";
import { areOfWholeTime, baseline, changesAgainst, chooseBaseline, comparable, showChanges } from "../model/baseline";
import { documents } from "../model/document";
import "./baseline_chooser.css";
import { OtherWay } from "./other_way";

/** The label, or the path where several documents have one label. */
export function nameOf(line: DocumentLine): string {
  return documents.value.some((other) => other !== line && other.label === line.label) ? line.path : line.label;
}

const options = () =>
  comparable().map((line) => (
    <option key={line.number} value={line.number} title={line.path}>
      {nameOf(line)}
    </option>
  ));

/** In the bar of the page: nothing when there is no other document of this kind. */
export function BaselineChooser() {
  if (!comparable().length) return null;
  return (
    <Fragment>
      <label class="baseline" title="Figures of this document are compared with those of another one">
        against{" "}
        <select
          data-choose="baseline"
          value={baseline.value ?? ""}
          onChange={({ currentTarget: { value } }) => chooseBaseline(value === "" ? null : Number(value))}
        >
          <option value="">nothing</option>
          {options()}
        </select>
      </label>
      {baseline.value === null ? null : (
        <label
          title={
            areOfWholeTime.value
              ? "Show changes against it beside the figures of tables and cards"
              : "Changes are about the whole time: none are shown while figures are of the selected time"
          }
        >
          <input
            type="checkbox"
            data-switch="changes"
            checked={changesAgainst.value !== null}
            disabled={!areOfWholeTime.value}
            onChange={(event) => showChanges(event.currentTarget.checked)}
          />{" "}
          changes
        </label>
      )}
    </Fragment>
  );
}

/** In views that compare: the same choice; `base` is what they show. */
export function BaseChooser({ base, view }: { base: number; view: string }) {
  return (
    <>
      <label>
        against{" "}
        <select
          aria-label="Base"
          data-choose="base"
          value={base}
          onChange={(event) => chooseBaseline(Number(event.currentTarget.value))}
        >
          {options()}
        </select>
      </label>
      <OtherWay base={base} view={view} />
    </>
  );
}
