import type { ReactNode } from 'react';
import { FieldInput, type Mark } from './field-input.tsx';
import { type Field, type Group, groups, leaves } from './schema.ts';
import css from './schema-form.module.css';
import type { Value, Values } from './values.ts';

const headings: Readonly<Record<Group, string>> = {
  connection: 'Connection',
  content: 'What to exchange',
  credentials: 'Credentials',
  webhook: 'Webhook of the vendor',
  advanced: 'Advanced',
};

interface SchemaFormProps {
  fields: readonly Field[];
  values: Values;
  onChange: (pointer: string, value: Value) => void;
  /** Problems by JSON pointer. */
  errors: Readonly<Record<string, string>>;
  /** What the answer of a test says about a part of the form. */
  notes?: Partial<Record<Group, string>>;
  /** Text above the fields of a part. */
  intros?: Partial<Record<Group, ReactNode>>;
  marks?: Readonly<Record<string, Mark>>;
}

/** The fields of a provider, in parts. What few people need is folded away, unless something in it is wrong. */
export function SchemaForm({ fields, values, onChange, errors, notes = {}, intros = {}, marks = {} }: SchemaFormProps) {
  const draw = (field: Field): ReactNode =>
    field.kind === 'group' ? (
      <fieldset key={field.pointer} className={css.group}>
        <legend>{field.title}</legend>
        <p className="dim">{field.description}</p>
        <div className={css.columns}>{field.fields.map(draw)}</div>
      </fieldset>
    ) : (
      <FieldInput
        key={field.pointer}
        field={field}
        value={values[field.pointer]}
        onChange={(value) => onChange(field.pointer, value)}
        error={errors[field.pointer]}
        mark={field.part === 'credentials' ? marks[field.name] : undefined}
      />
    );
  return groups.map((group) => {
    const members = fields.filter((field) => field.group === group);
    if (members.length === 0) return null;
    const content = (
      <>
        {intros[group]}
        {notes[group] && (
          <p className="bad" role="alert">
            {notes[group]}
          </p>
        )}
        {members.map(draw)}
      </>
    );
    if (group !== 'advanced')
      return (
        <section key={group} className={css.part} aria-label={headings[group]}>
          <h2>{headings[group]}</h2>
          {content}
        </section>
      );
    const isWrong = leaves(members).some(({ pointer }) => errors[pointer] !== undefined);
    return (
      <details key={group} className={css.part} {...(isWrong ? { open: true } : {})}>
        <summary>{headings[group]}</summary>
        <div className={css.part}>{content}</div>
      </details>
    );
  });
}
