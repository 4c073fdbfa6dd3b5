// The views of this kind of document, by what one wants to know; type to find one.
import { useSignal } from "@preact/signals";
import { overview } from "../model/document";
import { frontView, type View } from "../model/view";
import { Popup } from "../widgets/popup";
import { PURPOSES, VIEWS } from "./registry";

/** Views by purpose, those without one at the end. */
function grouped(views: View[]): { title: string; views: View[] }[] {
  const groups = PURPOSES.map(({ title, ids }) => ({
    title,
    views: ids.flatMap((id) => views.find((view) => view.id === id) ?? []),
  }));
  const rest = views.filter((view) => !PURPOSES.some(({ ids }) => ids.includes(view.id)));
  return [...groups, { title: "More", views: rest }].filter((group) => group.views.length);
}

export function ViewsMenu() {
  return (
    <Popup text="Views ▾" name="Views" hint="All views of this document">
      {(close) => <Views close={close} />}
    </Popup>
  );
}

function Views({ close }: { close: () => void }) {
  const query = useSignal("");
  const facts = overview.value;
  const words = query.value.toLowerCase().trim();
  const fits = (view: View) => `${view.title} ${view.hint}`.toLowerCase().includes(words);
  const groups = grouped(VIEWS.filter((view) => view.about === facts?.kind && fits(view)));
  const open = (id: string) => {
    close();
    frontView(id);
  };
  const first = groups.flatMap((group) => group.views).find((view) => facts && !view.missing(facts));
  return (
    <div class="views-menu">
      <input
        type="search"
        aria-label="Filter views"
        placeholder="Filter: what do you want to see?"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && first) open(first.id);
        }}
      />
      <div class="views-groups">
        {groups.map((group) => (
          <div role="group" aria-label={group.title} key={group.title}>
            <h3>{group.title}</h3>
            {group.views.map((view) => {
              const missing = facts ? view.missing(facts) : "";
              return (
                <button
                  type="button"
                  class="entry"
                  key={view.id}
                  data-go={view.id}
                  disabled={missing !== ""}
                  title={missing ? `${view.hint}\nNothing to show: ${missing}` : view.hint}
                  onClick={() => open(view.id)}
                >
                  <span class="views-title">{view.title}</span>
                  <span class="views-hint">{missing ? `Not here: ${missing}` : view.hint}</span>
                </button>
              );
            })}
          </div>
        ))}
        {groups.length ? null : <p class="note">No view is about that.</p>}
      </div>
    </div>
  );
}
