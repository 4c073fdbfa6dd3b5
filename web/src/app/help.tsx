// Help: the keyboard map and the views of the document at hand, those of others below; and what words mean.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { matcher } from "../base/matcher";
import { json } from "../data/ask";
import { current, kind, type Overview } from "../model/document";
import { useAnswer } from "../model/loaded";
import { frontView } from "../model/view";
import { Answered } from "../widgets/answered";
import { closeDialogOf, Dialog, DialogHead } from "../widgets/dialog";
import { helpIsOpen, KEYS, KEYS_OF_VIEWS, type Key } from "./keys";
import { VIEWS } from "./registry";
import { StartHere } from "./welcome";
import "./help.css";

type Kind = Overview["kind"];

/** What documents of each kind are called. */
const KINDS: Record<Kind, string> = { trace: "traces", run: "runs", counters: "counters", store: "stores" };
const TABS = [
  ["keys", "Keys and views"],
  ["words", "Glossary"],
] as const;

export function Help() {
  const tab = useSignal<(typeof TABS)[number][0]>("keys");
  const step = (event: KeyboardEvent) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    tab.value = tab.value === "keys" ? "words" : "keys";
    document.getElementById(`help-tab-${tab.value}`)?.focus();
  };
  return (
    <Dialog class="help" label="Help" close={() => (helpIsOpen.value = false)}>
      <DialogHead title="Help" />
      <div class="help-tabs" role="tablist" aria-label="Help">
        {TABS.map(([id, title]) => (
          <button
            key={id}
            id={`help-tab-${id}`}
            type="button"
            role="tab"
            aria-selected={tab.value === id}
            aria-controls="help-panel"
            tabIndex={tab.value === id ? 0 : -1}
            onClick={() => (tab.value = id)}
            onKeyDown={step}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="help-panel" role="tabpanel" tabIndex={0} aria-labelledby={`help-tab-${tab.value}`}>
        {tab.value === "keys" ? <KeysAndViews /> : <Glossary />}
      </div>
    </Dialog>
  );
}

function KeysAndViews() {
  const own = kind.value ?? "trace";
  const others = (Object.keys(KINDS) as Kind[]).filter((other) => other !== own);
  /** Keys of views; `isShown` gets the kinds of documents that have such views. */
  const keysOf = (isShown: (of: Kind[]) => boolean) =>
    KEYS_OF_VIEWS.filter(({ of }) => isShown(of)).map(({ where, keys }) => (
      <Keys key={where} title={where} keys={keys} />
    ));
  return (
    <>
      <StartHere />
      <div class="help-columns">
        <Keys title="Everywhere" keys={KEYS} />
        {keysOf((of) => of.includes(own))}
        <Views of={own} canGo />
      </div>
      {others.map((other) => (
        <details key={other} data-help-of={other}>
          <summary>Of {KINDS[other]}</summary>
          <div class="help-columns">
            {keysOf((of) => of.includes(other) && !of.includes(own))}
            <Views of={other} />
          </div>
        </details>
      ))}
    </>
  );
}

function Views({ of, canGo = false }: { of: Kind; canGo?: boolean }) {
  return (
    <section class="help-views">
      <h3>Views</h3>
      <dl class="keys">
        {VIEWS.filter((view) => view.about === of).map((view) => (
          <>
            <dt>
              {canGo ? (
                <button
                  type="button"
                  class="link"
                  onClick={(event) => {
                    closeDialogOf(event.currentTarget);
                    frontView(view.id);
                  }}
                >
                  {view.title}
                </button>
              ) : (
                view.title
              )}
            </dt>
            <dd>{view.hint}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

/** The names of a key without a capital letter beside its small one: `w`, `W` is one key to the reader. */
function listedNames({ keys }: Key): string[] {
  const isCapitalOfAnother = (name: string) =>
    name.length === 1 && name !== name.toLowerCase() && keys.includes(name.toLowerCase());
  return keys.filter((name) => !isCapitalOfAnother(name));
}

function Keys({ title, keys }: { title: string; keys: Key[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="keys">
        {keys.map((key) => (
          <>
            <dt>
              {listedNames(key).map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{key.does}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

interface WordSection {
  title: string;
  words: { word: string; meaning: string }[];
}

/** The section of each kind of document comes first. */
const OWN_SECTION: Record<Kind, string> = { trace: "Thread traces", run: "Runs", counters: "Counters", store: "Runs" };

function Glossary() {
  const answer = useAnswer(json<WordSection[]>(current.value, "glossary"));
  return <Answered answer={answer}>{(sections) => <Words sections={sections} />}</Answered>;
}

function Words({ sections }: { sections: WordSection[] }) {
  const query = useSignal("");
  const own = OWN_SECTION[kind.value ?? "trace"];
  const ordered = useMemo(
    () => [...sections].sort((a, b) => Number(b.title === own) - Number(a.title === own)),
    [sections, own],
  );
  const { test, problem } = matcher(query.value.trim());
  const isShown = ({ word, meaning }: WordSection["words"][number]) =>
    !query.value.trim() || test(word) || test(meaning);
  return (
    <div class="help-words">
      <input
        type="search"
        aria-label="Find a word"
        placeholder="find a word"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
        }}
      />
      {problem ? <p role="status">{problem}</p> : null}
      {ordered.map(({ title, words }) => {
        const shown = words.filter(isShown);
        return shown.length ? (
          <section key={title}>
            <h3>{title}</h3>
            <dl class="keys">
              {shown.map(({ word, meaning }) => (
                <>
                  <dt>{word}</dt>
                  <dd>{meaning}</dd>
                </>
              ))}
            </dl>
          </section>
        ) : null;
      })}
    </div>
  );
}
