import { type ReactNode, useId } from 'react';
import css from './choices.module.css';

interface Choice<Value extends string> {
  value: Value;
  label: string;
  /** What it means, or why it is not possible. */
  hint: string | null;
  isDisabled: boolean;
}

interface ChoicesProps<Value extends string> {
  label: ReactNode;
  choices: readonly Choice<Value>[];
  value: Value | undefined;
  onChange: (value: Value) => void;
}

/** One of a few. What cannot be chosen says why. */
export function Choices<Value extends string>({ label, choices, value, onChange }: ChoicesProps<Value>) {
  const name = useId();
  return (
    <fieldset className={css.choices}>
      <legend className="dim">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} data-disabled={choice.isDisabled || undefined}>
          <input
            type="radio"
            name={name}
            checked={choice.value === value}
            disabled={choice.isDisabled}
            data-autofocus={choice.value === value || undefined}
            onChange={() => onChange(choice.value)}
          />
          <span>
            <strong>{choice.label}</strong>
            {choice.hint !== null && <span className="dim">{choice.hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
