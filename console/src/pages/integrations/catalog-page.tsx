import { TextInput } from '@mantine/core';
import { SearchIcon } from '@primer/octicons-react';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useCommands } from '../../keys/keys.ts';
import { useQueryString } from '../../lists/query.ts';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Empty, Show } from '../../parts/states.tsx';
import { number } from '../../parts/words.ts';
import { kinds, type Provider, useCatalog } from './catalog.ts';
import css from './catalog-page.module.css';

/** All providers, by kind. */
export function CatalogPage() {
  const catalog = useCatalog();
  const [{ q = '' }, setQuery] = useQueryString();
  const search = useRef<HTMLInputElement>(null);
  useCommands({ filter: () => search.current?.focus() });
  const words = q.toLowerCase().split(/\s+/);
  const isWanted = ({ name, description, kind }: Provider): boolean =>
    words.every((word) => `${name} ${description} ${kinds[kind]}`.toLowerCase().includes(word));
  return (
    <Page
      title="Connect"
      info={catalog.data && <span>{number(catalog.data.data.length)} providers</span>}
      actions={
        <TextInput
          ref={search}
          aria-label="Search providers"
          placeholder="Search providers"
          leftSection={<SearchIcon size={14} />}
          value={q}
          onChange={({ target }) => setQuery({ q: target.value || null }, { replace: true })}
        />
      }
    >
      <ReadOnly permission="integrations:manage" to="connect them" />
      <Show query={catalog} rows={8}>
        {({ data }) => {
          const wanted = data.filter(isWanted);
          if (wanted.length === 0)
            return (
              <Empty title="No provider matches" actions={<Link to="/imports">Import a report instead</Link>}>
                Reports of any scanner can also be fetched from a URL: search for "report".
              </Empty>
            );
          return Object.entries(kinds).map(([kind, label]) => {
            const members = wanted.filter((provider) => provider.kind === kind);
            return members.length === 0 ? null : (
              <Section key={kind} title={label}>
                <ul className={css.providers}>
                  {members.map(({ id, name, description }) => (
                    <li key={id}>
                      <Link to="/integrations/new/$provider" params={{ provider: id }} className={css.provider}>
                        <strong>{name}</strong>
                        <span className="dim">{description}</span>
                      </Link>
                    </li>
                  ))}
                </ul>
              </Section>
            );
          });
        }}
      </Show>
    </Page>
  );
}
