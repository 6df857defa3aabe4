import type { Person } from './people.ts';

export interface Artifact {
  id: string;
  type: string;
  title: string;
  description: string | null;
  occurred_at: string | null;
  added_at: string;
  added_by: Person;
  url: string | null;
  filename: string | null;
  media_type: string | null;
  size: number | null;
  sha256: string | null;
  /** Whether the service fetched the content itself. */
  captured: boolean;
  file: string | null;
  superseded_by: string | null;
  removed: { at: string; by: Person; reason: string } | null;
}

export interface Collection {
  file: string;
  sha256: string;
  size: number;
  media_type: string;
  method: 'upload' | 'connection';
  source: string;
  collected_at: string;
  collected_by: Person;
}

export interface Redaction {
  file: string;
  pointer: string;
  reason: string;
}
