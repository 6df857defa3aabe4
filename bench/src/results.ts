export interface Result {
  id: string;
  what: string;
  figure: string;
  bar: string;
  met: boolean;
}

export function resultTable(results: readonly Result[]): string {
  const rows = results.map(({ id, what, figure, bar, met }) => `| ${id} | ${what} | ${figure} | ${bar} | ${met ? 'yes' : '**no**'} |`);
  return ['| id | measurement | result | goal | met |', '|---|---|---|---|---|', ...rows].join('\n');
}
