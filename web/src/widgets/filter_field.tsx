// A field for a name, a part of one or a /regex/, and what is wrong with the regex.
import type { Signal } from "@preact/signals";

export function FilterField({
  query,
  placeholder,
  label,
  problem,
}: {
  query: Signal<string>;
  placeholder: string;
  label: string;
  problem: string;
}) {
  return (
    <>
      <input
        type="search"
        placeholder={placeholder}
        aria-label={label}
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
        }}
      />
      {problem ? <span class="bad-pattern">{problem}</span> : null}
    </>
  );
}
