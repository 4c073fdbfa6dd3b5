// The settings: one line for each of model/settings.ts. Every change is seen at once and stored.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { colourOf, nameOfKind, paletteColour } from "../draw/palette";
import { change, resetSettings, SETTINGS, type Setting, settings } from "../model/settings";
import { TOKEN_ORDER, tokensFrom } from "../model/tokens";
import { storageFile, store, storedBelow } from "../model/user_storage";
import { Dialog, DialogHead } from "../widgets/dialog";
import { settingsAreOpen } from "./keys";
import { VIEWS } from "./registry";
import "./settings_page.css";

const GROUPS = [...new Set(SETTINGS.map((setting) => setting.group))];
const COLOURED = [...TOKEN_ORDER.slice(1), "EXEC", "WAIT", "STALL", "IDLE"];

export function SettingsPage({ resetLayout }: { resetLayout: () => void }) {
  return (
    <Dialog label="Settings" class="settings-page" close={() => (settingsAreOpen.value = false)}>
      <DialogHead title="Settings" />
      {GROUPS.map((group) => (
        <section key={group}>
          <h3>{group}</h3>
          {SETTINGS.filter((setting) => setting.group === group).map((setting) => (
            <Line key={setting.name} setting={setting} />
          ))}
        </section>
      ))}
      <p class="settings-foot">
        <Reset resetLayout={resetLayout} />
        <span class="faint" data-stored>
          stored {storageFile.value ? `in ${storageFile.value}` : "in this browser"}
        </span>
      </p>
    </Dialog>
  );
}

function Line({ setting }: { setting: Setting }) {
  return (
    <div class="setting" data-setting={setting.name}>
      <span class="setting-title" id={`setting-${setting.name}`}>
        {setting.title}
      </span>
      <div class="setting-control" role="group" aria-labelledby={`setting-${setting.name}`}>
        <Control setting={setting} />
      </div>
      <span class="faint setting-meaning">{setting.meaning}</span>
    </div>
  );
}

function Control({ setting }: { setting: Setting }): ComponentChildren {
  const { name, title } = setting;
  const value = settings.value[name];
  if (setting.kind === "number")
    return (
      <>
        <input
          type="range"
          aria-label={title}
          min={setting.least}
          max={setting.most}
          step={setting.step}
          value={Number(value)}
          onInput={(event) => change({ [name]: Number(event.currentTarget.value) })}
        />
        <output>
          {Number(value)} {setting.unit}
        </output>
      </>
    );
  if (setting.kind === "switch")
    return (
      <label>
        <input
          type="checkbox"
          aria-label={title}
          checked={value === true}
          onChange={(event) => change({ [name]: event.currentTarget.checked })}
        />{" "}
        included
      </label>
    );
  if (setting.kind === "colours") return <Colours />;
  if (setting.kind === "tokens") return <TokenFile />;
  const views = VIEWS.filter((view) => view.about === setting.about).map(({ id, title }) => ({ value: id, title }));
  const choices =
    setting.kind === "view" ? [{ value: "", title: "what fits the document" }, ...views] : setting.choices;
  return (
    <select
      aria-label={title}
      value={String(value)}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    >
      {choices?.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.title}
        </option>
      ))}
    </select>
  );
}

function Colours() {
  const { colours } = settings.value;
  const set = (kind: string, colour: string) => change({ colours: { ...colours, [kind]: colour } });
  const changed = Object.keys(colours).length;
  return (
    <div class="colour-choices">
      {COLOURED.map((kind) => (
        <label key={kind} title={`${nameOfKind(kind)}: the palette has ${paletteColour(kind)}`}>
          <input
            type="color"
            aria-label={`Colour of ${nameOfKind(kind)}`}
            value={colourOf(kind)}
            onInput={(event) => set(kind, event.currentTarget.value)}
          />
          {nameOfKind(kind)}
        </label>
      ))}
      <button type="button" class="quiet" disabled={!changed} onClick={() => change({ colours: {} })}>
        as the palette
      </button>
    </div>
  );
}

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;

function TokenFile() {
  const problem = useSignal("");
  const { tokens } = settings.value;
  const load = async (file: File | undefined) => {
    if (!file) return;
    const read =
      file.size > 1_000_000 ? "The file is far too large for a token_def.json." : tokensFrom(await file.text());
    problem.value = typeof read === "string" ? read : "";
    if (typeof read !== "string") change({ tokens: read });
  };
  return (
    <div class="token-file">
      <input
        type="file"
        aria-label="Load a token_def.json"
        accept=".json,application/json"
        onChange={(event) => {
          const field = event.currentTarget;
          void load(field.files?.[0]).finally(() => {
            field.value = ""; // the same file can be loaded again after it was changed
          });
        }}
      />
      <output data-tokens={tokens?.tokens.length ?? 0}>
        {tokens
          ? `${count(tokens.tokens.length, "name", "names")}, ${count(Object.keys(tokens.prefixes).length, "prefix", "prefixes")}`
          : "none loaded"}
      </output>
      <button type="button" class="quiet" disabled={!tokens} onClick={() => change({ tokens: null })}>
        forget
      </button>
      {problem.value ? (
        <p role="alert" class="setting-problem">
          {problem.value} What was there before still counts.
        </p>
      ) : null}
    </div>
  );
}

/** Settings, layouts and what views have stored; bookmarks and notes stay. */
function Reset({ resetLayout }: { resetLayout: () => void }) {
  const isSure = useSignal(false);
  const reset = () => {
    resetSettings();
    for (const below of ["layout.", "layouts."])
      for (const name of Object.keys(storedBelow(below))) store(below + name, null);
    resetLayout();
    isSure.value = false;
  };
  return (
    <button
      type="button"
      data-action="reset-settings"
      title="Settings, layouts and columns as they were at first; bookmarks and notes stay"
      onClick={() => {
        if (isSure.value) reset();
        else isSure.value = true;
      }}
      onBlur={() => (isSure.value = false)}
    >
      {isSure.value ? "Reset settings and layouts: click again" : "Reset everything"}
    </button>
  );
}
