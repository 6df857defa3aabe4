import { count, type Obj, str } from '../../shared/read.ts';

/** Compares what projects count with what is listed of them. `headers` has the fields of each project. */
export function startListed(headers: ReadonlyMap<string, Obj>) {
  const listed = new Map<string, { paths: number; ids: Set<string> }>();
  return {
    /** An entry of a project is one dependency path to a vulnerability. */
    add(owner: string, id: unknown): void {
      const project = listed.get(owner) ?? { paths: 0, ids: new Set() };
      listed.set(owner, project);
      project.paths++;
      const text = str(id);
      if (text !== undefined && project.ids.size < uniqueIn(headers.get(owner))) project.ids.add(text);
    },
    /** The projects of which the report lists fewer than it counts. */
    cut(): string[] {
      return [...headers].flatMap(([owner, header]) => {
        const { paths, ids } = listed.get(owner) ?? { paths: 0, ids: new Set() };
        return paths < pathsIn(header) || ids.size < uniqueIn(header) ? [owner] : [];
      });
    },
  };
}

/** How many vulnerabilities the project has. Those that are ignored need not be counted. */
function uniqueIn(header: Obj | undefined): number {
  return count(header?.uniqueCount) ?? 0;
}

/** "24 vulnerable dependency paths", or "1 critical severity vulnerable dependency path" */
function pathsIn({ summary }: Obj): number {
  return Number(/^(\d{1,9}) (?:[a-z ]{1,100} severity )?vulnerable dependency path/.exec(str(summary) ?? '')?.[1] ?? 0);
}
