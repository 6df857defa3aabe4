import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';

/** Writes dist/rrs-verify.js, a module for browsers, and dist/rrs-verify.html, a self-contained page without network access. */
const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const write = (path: string, text: string) => writeFileSync(new URL(path, root), text);

const { code, names } = bundle(new URL('src/index.ts', root));
const script = `${code}${read('page/page.js').replace(/^export /gm, '')}\nstart({ ${names.join(', ')} });\n`;
const style = read('page/page.css');
if (script.includes('</script')) throw new Error('the script contains </script, which would end it early in the page');

mkdirSync(new URL('dist/', root), { recursive: true });
write('dist/rrs-verify.js', `${code}export { ${names.join(', ')} };\n`);
write('dist/rrs-verify.html', page());
process.stdout.write(`${fileURLToPath(new URL('dist/', root))}rrs-verify.{js,html}\n`);

/** The content security policy allows only the inline script and style, by their hashes. So the browser itself prevents data from leaving. */
function page(): string {
  const policy = `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; base-uri 'none'; form-action 'none'`;
  return read('page/index.html')
    .replace('<!-- policy -->', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
