import { Button, Checkbox, NativeSelect, PasswordInput, Switch, Textarea, TextInput, type TextInputProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { WordsInput } from '../../../parts/inputs/words-input.tsx';
import { SafeLink } from '../../../parts/safe-link.tsx';
import { relativeTime } from '../../../parts/words.ts';
import type { Field } from './schema.ts';
import css from './schema-form.module.css';
import type { Value } from './values.ts';

/** A secret that is stored. Its value is never returned. */
export interface Mark {
  updated_at: string;
  hint: string | null;
}

interface FieldProps {
  field: Field;
  value: Value | undefined;
  onChange: (value: Value) => void;
  error: string | undefined;
  mark: Mark | undefined;
}

/** One field of a form, drawn by its kind. */
export function FieldInput({ field, value, onChange, error, mark }: FieldProps) {
  const isRemoved = value === null;
  const common = {
    label: field.title,
    description: <Help field={field} mark={mark} isRemoved={isRemoved} onRemove={() => onChange(isRemoved ? '' : null)} />,
    error,
    withAsterisk: field.isRequired && mark === undefined,
    name: field.pointer,
    ...(isRemoved ? { disabled: true } : {}),
  };
  const text = typeof value === 'string' ? value : '';
  const words = Array.isArray(value) ? (value as string[]) : [];
  const placeholder = field.example !== '' ? field.example : typeof field.fallback === 'string' ? field.fallback : undefined;
  switch (field.kind) {
    case 'secret':
      return field.isLong ? (
        <Textarea {...common} value={text} onChange={({ target }) => onChange(target.value)} autoComplete="off" spellCheck={false} className={css.code} />
      ) : (
        <PasswordInput {...common} value={text} onChange={({ target }) => onChange(target.value)} autoComplete="new-password" />
      );
    case 'words':
      return <WordsInput {...common} value={words} onChange={onChange} placeholder={placeholder ?? ''} />;
    case 'choice':
      return (
        <NativeSelect
          {...common}
          value={text}
          onChange={({ target }) => onChange(target.value)}
          data={[...(field.isRequired && field.fallback !== undefined ? [] : [{ value: '', label: 'Not set' }]), ...field.options]}
        />
      );
    case 'choices':
      return (
        <Checkbox.Group label={common.label} description={common.description} error={error} value={words} onChange={onChange}>
          <div className={css.choices}>
            {field.options.map((option) => (
              <Checkbox key={option.value} value={option.value} label={option.label} />
            ))}
          </div>
        </Checkbox.Group>
      );
    case 'switch':
      return (
        <Switch
          label={common.label}
          description={common.description}
          error={error}
          name={field.pointer}
          checked={value === true}
          onChange={({ target }) => onChange(target.checked)}
        />
      );
    case 'number':
      return (
        <TextInput
          {...common}
          value={text}
          onChange={({ target }) => onChange(target.value)}
          type="number"
          step="any"
          {...(field.least === undefined ? {} : { min: field.least })}
          {...(field.most === undefined ? {} : { max: field.most })}
          placeholder={placeholder}
        />
      );
    case 'json':
      return (
        <Textarea
          {...common}
          value={text}
          onChange={({ target }) => onChange(target.value)}
          placeholder={field.example}
          spellCheck={false}
          className={css.code}
        />
      );
    default:
      return field.isLong ? (
        <Textarea
          {...common}
          value={text}
          onChange={({ target }) => onChange(target.value)}
          placeholder={placeholder}
          spellCheck={false}
          className={css.code}
        />
      ) : (
        <ShortText field={field} common={{ ...common, placeholder }} text={text} onChange={onChange} />
      );
  }
}

interface ShortTextProps {
  field: Field;
  common: TextInputProps;
  text: string;
  onChange: (value: string) => void;
}

/** A line of text, with suggestions if there are well-known values. */
function ShortText({ field: { pointer, suggestions }, common, text, onChange }: ShortTextProps) {
  const id = `${pointer}-suggestions`;
  return (
    <>
      <TextInput
        {...common}
        value={text}
        onChange={({ target }) => onChange(target.value)}
        autoComplete="off"
        spellCheck={false}
        {...(suggestions.length > 0 ? { list: id } : {})}
      />
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface HelpProps {
  field: Field;
  mark: Mark | undefined;
  isRemoved: boolean;
  onRemove: () => void;
}

/** What the field is for, where its value comes from, and whether it is stored already. */
function Help({ field: { description, link, isRequired }, mark, isRemoved, onRemove }: HelpProps) {
  const stored: ReactNode = mark && (
    <span className={css.stored}>
      {isRemoved ? 'Will be removed.' : `Set ${relativeTime(mark.updated_at)}${mark.hint ? `, ends with ${mark.hint}` : ''}. Leave it empty to keep it.`}
      {!isRequired && (
        <Button variant="subtle" size="compact-xs" onClick={onRemove}>
          {isRemoved ? 'Keep it' : 'Remove it'}
        </Button>
      )}
    </span>
  );
  return (
    <>
      {description} {link && <SafeLink href={link}>Where to find it</SafeLink>}
      {stored}
    </>
  );
}
