import { Facts, Section } from '../../parts/page.tsx';
import { relativeTime } from '../../parts/words.ts';
import type { Connection, Provider } from './catalog.ts';
import { fieldsOf } from './form/schema.ts';

/** What the connection is set to. Of secrets, only that they are set. */
export function Settings({ connection: { config, credentials }, provider }: { connection: Connection; provider: Provider | undefined }) {
  if (provider === undefined) return null;
  return (
    <Section title="Settings">
      <Facts
        rows={fieldsOf(provider).map(({ part, name, title, options }) => {
          const mark = credentials[name];
          if (part === 'credentials') return [title, mark && `Set ${relativeTime(mark.updated_at)}${mark.hint ? `, ends with ${mark.hint}` : ''}`] as const;
          const label = (value: unknown): string => options.find((option) => option.value === value)?.label ?? String(value);
          return [title, textOf(config[name], label)] as const;
        })}
      />
    </Section>
  );
}

function textOf(value: unknown, label: (value: unknown) => string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.map(label).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : label(value);
}
