import type { Icon } from '@primer/octicons-react';
import type { View } from '@rrs/client';
import type { ComponentType } from 'react';
import type { Permission } from '../api/session.ts';
import type { CommandName } from '../keys/commands.ts';
import { parseQuery, type Query } from '../lists/query.ts';

/** A page. Its code is loaded when somebody goes there. */
export interface PageRoute {
  /** As in TanStack Router: `/findings/$id`. */
  path: string;
  load: () => Promise<ComponentType>;
  /** Works without a session and without the frame. */
  isPublic?: true;
}

/** A part of the console: its pages, and its entry in the navigation. */
export interface Area {
  routes: readonly PageRoute[];
  /** Absent for parts that are not in the navigation. */
  entry?: {
    label: string;
    path: string;
    /** The query that the entry opens, such as the first view of a list. */
    search?: Readonly<Record<string, string>>;
    /** The list that it opens. A person can choose another first view for it. */
    list?: View['list'];
    icon: Icon;
    command: CommandName;
    /** People without it do not see the entry. */
    permission: Permission;
  };
}

/** The query that an entry opens: the one that the person chose, or the first view of the list. */
export function searchOf({ list, search = {} }: NonNullable<Area['entry']>, defaults: Readonly<Record<string, string>>): Query {
  const chosen = list && defaults[list];
  return chosen === undefined ? search : parseQuery(chosen);
}
