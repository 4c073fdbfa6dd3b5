// The keyboard map and what every view shows.
import { kind } from "../model/document";
import { frontView } from "../model/view";
import { helpIsOpen, KEYS, KEYS_OF_VIEWS, type Key } from "./keys";
import { VIEWS } from "./registry";

export function Help() {
  const close = () => {
    helpIsOpen.value = false;
  };
  return (
    <div class="dialog" role="dialog" aria-label="Help" aria-modal="true">
      <div class="dialog-head">
        <h2>Keys and views</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ×
        </button>
      </div>
      <div class="help-columns">
        <Keys title="Everywhere" keys={KEYS} />
        {KEYS_OF_VIEWS.map(({ where, keys }) => (
          <Keys key={where} title={where} keys={keys} />
        ))}
        <section class="help-views">
          <h3>Views</h3>
          <dl class="keys">
            {VIEWS.filter((view) => view.about === kind.value).map((view) => (
              <>
                <dt>
                  <button
                    type="button"
                    class="link"
                    onClick={() => {
                      close();
                      frontView(view.id);
                    }}
                  >
                    {view.title}
                  </button>
                </dt>
                <dd>{view.hint}</dd>
              </>
            ))}
          </dl>
        </section>
      </div>
    </div>
  );
}

function Keys({ title, keys }: { title: string; keys: Key[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="keys">
        {keys.map((key) => (
          <>
            <dt>
              {key.keys
                .filter(
                  (name) => name.length > 1 || !key.keys.includes(name.toLowerCase()) || name === name.toLowerCase(),
                )
                .map((name) => (
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
