// The editor of derived counters: what there is, the definitions, what is wrong beside its line.
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { exact } from "../../base/format";
import type { AnswerError } from "../../data/source";
import { figure } from "../../widgets/curve_legend";
import { NumberedText, showLine } from "../../widgets/numbered_text";
import { besideLines, type DerivedAnswer } from "./answer";
import { Language } from "./language";
import { chooseSet, chosenSet, deleteSet, savedSets, saveSet } from "./saved_sets";

interface Props {
  /** Of the definitions in use; null = it has not arrived, or failed with `error`. */
  answer: DerivedAnswer | null;
  error: AnswerError | null;
  /** The definitions in use; null = the built-in set. */
  applied: Signal<string | null>;
  builtin: string;
  close: () => void;
}

export function Editor({ answer, error, applied, builtin, close }: Props) {
  const draft = useSignal(applied.value ?? builtin);
  const isHelpOpen = useSignal(false);
  const name = useSignal(chosenSet.value ?? "");
  const longest = answer?.longest ?? Number.POSITIVE_INFINITY;
  const isTooLong = draft.value.length > longest;
  const isApplied = draft.value === (applied.value ?? builtin);
  const apply = () => {
    if (!isTooLong) applied.value = draft.value === builtin ? null : draft.value;
  };
  const choose = (chosen: string | null) => {
    chooseSet(chosen);
    name.value = chosen ?? "";
    const text = chosen === null ? null : (savedSets.value[chosen] ?? null);
    draft.value = text ?? builtin;
    applied.value = text;
  };
  return (
    <div class="derived-editor">
      <div class="toolbar">
        <SavedSets choose={choose} />
        <button type="button" data-action="apply" disabled={isTooLong} onClick={apply} title="Ctrl+Enter">
          Apply{isApplied ? "" : " *"}
        </button>
        <button type="button" class="quiet" data-action="reset" onClick={() => choose(null)}>
          Built-in set
        </button>
        <Naming
          save={(name) => {
            saveSet(name, draft.value);
            apply();
          }}
          remove={(name) => {
            deleteSet(name);
            choose(null);
          }}
          name={name}
        />
        <button
          type="button"
          class="quiet"
          aria-expanded={isHelpOpen.value}
          data-action="help"
          onClick={() => {
            isHelpOpen.value = !isHelpOpen.value;
          }}
        >
          Help
        </button>
        {isTooLong ? (
          <span class="curve-problem">
            {exact(draft.value.length)} characters; at most {exact(longest)}
          </span>
        ) : null}
        <button type="button" class="quiet editor-close" aria-label="Close the editor" onClick={close}>
          ×
        </button>
      </div>
      {isHelpOpen.value ? <Language /> : null}
      {error ? (
        <p class="note problem" role="alert">
          {error.what} {error.advice}
        </p>
      ) : null}
      <div class="derived-body">
        <Known answer={answer} />
        <Text draft={draft} apply={apply} beside={isApplied ? besideLines(draft.value, answer?.problems ?? []) : []} />
      </div>
    </div>
  );
}

function SavedSets({ choose }: { choose: (name: string | null) => void }) {
  return (
    <select
      aria-label="Saved definitions"
      data-sets
      value={chosenSet.value ?? ""}
      onChange={(event) => choose(event.currentTarget.value || null)}
    >
      <option value="">built-in set</option>
      {Object.keys(savedSets.value).map((known) => (
        <option key={known} value={known}>
          {known}
        </option>
      ))}
    </select>
  );
}

interface NamingProps {
  name: Signal<string>;
  save: (name: string) => void;
  remove: (name: string) => void;
}

/** Saves the definitions under a name, and deletes saved ones. */
function Naming({ name, save, remove }: NamingProps) {
  const saved = chosenSet.value;
  return (
    <>
      <input
        placeholder="name"
        aria-label="Name to save under"
        maxLength={60}
        value={name.value}
        onInput={(event) => {
          name.value = event.currentTarget.value;
        }}
      />
      <button
        type="button"
        class="quiet"
        data-action="save"
        disabled={!name.value.trim()}
        title="Keep these definitions under this name"
        onClick={() => save(name.value.trim())}
      >
        Save
      </button>
      {saved === null ? null : (
        <button type="button" class="quiet" data-action="delete" onClick={() => remove(saved)}>
          Delete
        </button>
      )}
    </>
  );
}

/** The definitions with line numbers; `beside` has for each line what is wrong with it, or an empty string. */
function Text({ draft, apply, beside }: { draft: Signal<string>; apply: () => void; beside: string[] }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const problems = beside.flatMap((problem, line) => (problem ? [{ problem, line }] : []));
  return (
    <div class="derived-text">
      <NumberedText text={draft} label="Definitions of derived counters" apply={apply} beside={beside} area={area} />
      {problems.length ? (
        <ul class="derived-problems">
          {problems.map(({ problem, line }) => (
            <li key={line} data-line={line + 1}>
              <button type="button" class="link" onClick={() => showLine(area.current, line)}>
                line {line + 1}
              </button>{" "}
              {problem}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

/** What can be used in definitions: counters of the trace, and derived ones with their values. */
function Known({ answer }: { answer: DerivedAnswer | null }) {
  if (!answer) return null;
  return (
    <div class="derived-known">
      <h4>Counters</h4>
      {answer.counters.map(({ name, shape, first }) => (
        <div
          key={name}
          class="mono"
          title={`${shape} values (XCC x SE x CU x steps)\n${first.map(figure).join(", ")} …`}
        >
          {name}
        </div>
      ))}
      <h4>Derived</h4>
      {answer.summary.rows.map(({ name, expression, shape, value_mean, value_min, value_max }) => (
        <div
          key={name}
          class="mono"
          data-derived={name}
          data-mean={value_mean ?? ""}
          title={`${expression}\n${shape}\nfrom ${figure(value_min ?? Number.NaN)} to ${figure(value_max ?? Number.NaN)}`}
        >
          {name} <span class="faint-text">mean {figure(value_mean ?? Number.NaN)}</span>
          {answer.without_curve.includes(name) ? (
            <span class="faint-text"> · no curve: not one value per step</span>
          ) : null}
        </div>
      ))}
    </div>
  );
}
