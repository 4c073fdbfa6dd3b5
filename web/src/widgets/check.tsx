// A box to tick, with its words.
import type { ComponentChildren } from "preact";

interface Props {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  hint?: string;
  /** For tests and links: which choice it is. */
  name?: string;
  isDisabled?: boolean;
  children: ComponentChildren;
}

export function Check({ isOn, onChange, hint, name, isDisabled = false, children }: Props) {
  const tick = (event: { currentTarget: HTMLInputElement }) => onChange(event.currentTarget.checked);
  return (
    <label title={hint}>
      <input type="checkbox" data-choose={name} checked={isOn} disabled={isDisabled} onChange={tick} /> {children}
    </label>
  );
}
