// Choose, save, rename and delete layouts.
import { useSignal } from "@preact/signals";
import { Icon } from "../widgets/icon";
import { Popup } from "../widgets/popup";
import { type Layout, written } from "./layout";
import { deleteLayout, layouts, type NamedLayout, problemOfName, renameLayout, saveLayout } from "./layouts";

interface Props {
  layOut: (layout: Layout) => void;
  /** What is on screen, as text. */
  now: () => string;
}

export function LayoutMenu({ layOut, now }: Props) {
  return (
    <Popup text="Layout ▾" name="Layout" hint="Arrangements of views: choose one, or save this one under a name">
      {(close) => (
        <div class="layout-menu">
          {layouts.value.map((layout) => (
            <Entry
              key={layout.name}
              layout={layout}
              choose={() => {
                close();
                layOut(layout.layout);
              }}
            />
          ))}
          <SaveAs now={now} />
        </div>
      )}
    </Popup>
  );
}

function Entry({ layout, choose }: { layout: NamedLayout; choose: () => void }) {
  const name = useSignal<string | null>(null);
  if (name.value !== null) {
    const problem = name.value.trim() === layout.name ? "" : problemOfName(name.value);
    return (
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault();
          if (problem) return;
          renameLayout(layout.name, name.value ?? "");
          name.value = null;
        }}
      >
        <input
          type="text"
          aria-label={`New name of ${layout.name}`}
          aria-invalid={problem !== ""}
          title={problem}
          value={name.value}
          ref={(element) => element?.focus()}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="quiet" disabled={problem !== ""}>
          rename
        </button>
      </form>
    );
  }
  return (
    <div class="line">
      <button type="button" class="entry" data-layout={layout.name} title={written(layout.layout)} onClick={choose}>
        {layout.name}
      </button>
      {layout.isBuiltIn ? null : (
        <>
          <button
            type="button"
            class="quiet"
            aria-label={`Rename ${layout.name}`}
            title="Rename"
            onClick={() => {
              name.value = layout.name;
            }}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={`Delete ${layout.name}`}
            title="Delete"
            onClick={() => deleteLayout(layout.name)}
          >
            <Icon name="close" />
          </button>
        </>
      )}
    </div>
  );
}

function SaveAs({ now }: { now: () => string }) {
  const name = useSignal("");
  const problem = problemOfName(name.value);
  const isThere = layouts.value.some((layout) => layout.name === name.value.trim());
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem) return;
        saveLayout(name.value, now());
        name.value = "";
      }}
    >
      <input
        type="text"
        aria-label="Name of a new layout"
        placeholder="Save this layout as…"
        value={name.value}
        title={name.value ? problem : ""}
        onInput={(event) => {
          name.value = event.currentTarget.value;
        }}
      />
      <button type="submit" class="quiet" disabled={problem !== ""}>
        {isThere ? "replace" : "save"}
      </button>
    </form>
  );
}
