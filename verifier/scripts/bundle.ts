import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

interface Module {
  /** Name of the variable that contains its exports. */
  id: string;
  names: string[];
}

/**
 * Bundles a module and its imports into one script: each module becomes a function that returns its exports.
 * Supports only the style of this repository: named imports and exports, each statement at the start of a line, no cycles.
 */
export function bundle(entry: URL): { code: string; names: string[] } {
  const done = new Map<string, Module>();
  const parts: string[] = [];
  const { id, names } = add(entry);
  return { code: `${parts.join('')}const { ${names.join(', ')} } = ${id};\n`, names };

  function add(url: URL): Module {
    const known = done.get(url.href);
    if (known) return known;
    const exported: string[] = [];
    const passed: string[] = [];
    const from = (specifier: string) => add(resolve(specifier, url));
    const body = stripTypeScriptTypes(readFileSync(url, 'utf8'))
      .replace(/^import\s*\{([^}]*)\}\s*from '([^']+)';/gm, (_, list: string, specifier: string) => `const { ${pairs(list, ': ')} } = ${from(specifier).id};`)
      .replace(/^export\s*\{([^}]*)\}\s*from '([^']+)';/gm, (_, list: string, specifier: string) => {
        const given = listed(list);
        passed.push(...given.map((name) => `${name}: ${from(specifier).id}.${name}`));
        exported.push(...given);
        return '';
      })
      .replace(/^export \* from '([^']+)';/gm, (_, specifier: string) => {
        const { id: source, names: all } = from(specifier);
        passed.push(...all.map((name) => `${name}: ${source}.${name}`));
        exported.push(...all);
        return '';
      })
      .replace(/^export (?=(?:async )?(?:function\*?|const|class) (\w+))/gm, (_, name: string) => {
        passed.push(name);
        exported.push(name);
        return '';
      });
    const leftover = /^(?:import|export)\b.*/m.exec(body);
    if (leftover) throw new Error(`${url.pathname}: cannot bundle "${leftover[0]}"`);
    const module = { id: `module${done.size}`, names: exported };
    done.set(url.href, module);
    parts.push(`const ${module.id} = (() => {\n${body}\nreturn { ${passed.join(', ')} };\n})();\n`);
    return module;
  }
}

function resolve(specifier: string, from: URL): URL {
  if (specifier.startsWith('.')) return new URL(specifier, from);
  if (specifier.startsWith('node:')) throw new Error(`${from.pathname} imports ${specifier}, which browsers do not have`);
  return new URL(import.meta.resolve(specifier));
}

function listed(list: string): string[] {
  return list.split(',').flatMap((item) => item.trim().match(/^\w+$/) ?? []);
}

function pairs(list: string, separator: string): string {
  return list
    .split(',')
    .map((item) => item.trim().replace(/(?<!\s)\s+as\s+/, separator))
    .filter((item) => item !== '')
    .join(', ');
}
