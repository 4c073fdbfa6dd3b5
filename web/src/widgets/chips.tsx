// A few choices of which any number is on.
interface Props<T> {
  label: string;
  choices: { value: T; name: string; hint?: string }[];
  isOn: (value: T) => boolean;
  onToggle: (value: T) => void;
}

export function Chips<T extends string | number>({ label, choices, isOn, onToggle }: Props<T>) {
  return (
    <span class="chips" role="group" aria-label={label}>
      {choices.map(({ value, name, hint }) => (
        <button
          type="button"
          class="quiet"
          key={value}
          title={hint ?? name}
          aria-pressed={isOn(value)}
          data-chip={value}
          onClick={() => onToggle(value)}
        >
          {name}
        </button>
      ))}
    </span>
  );
}
