const STYLE = 'body{font:1rem/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}';

/** Shown as long as there is no built console. It reloads itself while the console is being built. */
export function waitingPage(missing: string | null): { html: string; policy: string } {
  const refresh = missing === null ? '<meta http-equiv="refresh" content="2">' : '';
  const text = missing === null ? 'The console is being built. This page reloads by itself.' : missing;
  return {
    policy: "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}
<title>Remediation Risk Service</title>
<style>${STYLE}</style>
<h1>Remediation Risk Service</h1>
<p>${text}</p>
<p>The API is available. <a href="/docs/">API documentation</a></p>
</html>
`,
  };
}
