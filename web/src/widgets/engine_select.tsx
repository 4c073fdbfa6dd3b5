// Which shader engine a view is about.

interface Props {
  engines: number[];
  value: number | null;
  onChange: (se: number | null) => void;
  /** What "all" is called. */
  all?: string;
  /** What one engine is called. */
  one?: (se: number) => string;
}

export function EngineSelect({ engines, value, onChange, all = "all SEs", one = (se) => `SE ${se}` }: Props) {
  return (
    <select
      aria-label="Shader engine"
      data-engine
      value={value === null ? "" : String(value)}
      onChange={(event) => onChange(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}
    >
      <option value="">{all}</option>
      {engines.map((se) => (
        <option key={se} value={String(se)}>
          {one(se)}
        </option>
      ))}
    </select>
  );
}
