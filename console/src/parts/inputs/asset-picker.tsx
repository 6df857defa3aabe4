import { Select } from '@mantine/core';
import type { AssetType } from '@rrs/client';
import { useDeferredValue, useState } from 'react';
import { useApi } from '../../api/client.ts';

interface AssetPickerProps {
  label: string;
  value: string | null;
  onChange: (id: string | null) => void;
  /** Only assets of this type. */
  type?: AssetType;
  /** An asset that cannot be chosen. */
  except?: string;
  isFirst?: boolean;
}

/** Finds an asset by its name. The service searches, so that the number of assets does not matter. */
export function AssetPicker({ label, value, onChange, type, except, isFirst = false }: AssetPickerProps) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const query = { retired: false, limit: 20, ...(type ? { type: [type] } : {}), ...(q.length < 2 ? {} : { q }) };
  const found = useApi('listAssets', { query }, { keep: true });
  // One that was chosen before the search, such as by the address of the page.
  const chosen = useApi('getAsset', { path: { id: value ?? '' } }, { enabled: value !== null });
  const choices = [...(found.data?.data ?? []).filter(({ id }) => id !== except), ...(value !== null && chosen.data ? [chosen.data] : [])];
  return (
    <Select
      data-autofocus={isFirst || undefined}
      label={label}
      placeholder="Search by name"
      searchable
      required
      nothingFoundMessage="No asset matches"
      filter={({ options }) => options}
      data={[...new Map(choices.map(({ id, name }) => [id, { value: id, label: name }])).values()]}
      value={value}
      onChange={onChange}
      onSearchChange={setText}
    />
  );
}
