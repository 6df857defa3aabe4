export interface UrlRedaction {
  pointer: string;
  reason: string;
}

const REDACTED = 'REDACTED';

const SECRET_NAME =
  /token|secret|passw|pwd|credential|signature|session|api[-_.]?key|access[-_.]?key|private[-_.]?key|^(?:x-(?:amz|goog)-.*|sig|auth|authorization|code|jwt|sid|pass|key|samlresponse|samlrequest)$/i;
/** Secrets with a recognizable form: tokens of well-known services, JSON Web Tokens, cloud access keys. */
const SECRET_VALUE = /^(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|rrs_|sk-|npm_|pypi-|AKIA|ASIA|Bearer\s)|^eyJ[\w-]+\.[\w-]+\./;

/** Removes credentials from a link. Returns `null` if the text is not an http or https URL. */
export function redactUrl(text: string): { url: string; redactions: UrlRedaction[] } | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const reasons: string[] = [];
  if (url.username !== '' || url.password !== '') {
    url.username = '';
    url.password = '';
    reasons.push('the user name and password in the URL were removed');
  }
  const secret = redactPairs(url.searchParams);
  if (secret.length > 0) reasons.push(`the values of the query parameters ${secret.join(', ')} were removed`);
  // Single-page applications and OAuth put parameters into the fragment.
  if (url.hash.includes('=')) {
    const fragment = new URLSearchParams(url.hash.slice(1));
    const hidden = redactPairs(fragment);
    if (hidden.length > 0) {
      url.hash = fragment.toString();
      reasons.push(`the values of the fragment parameters ${hidden.join(', ')} were removed`);
    }
  }
  return { url: url.href, redactions: reasons.map((reason) => ({ pointer: '/url', reason })) };
}

function redactPairs(parameters: URLSearchParams): string[] {
  const secret = [...new Set([...parameters].filter(([name, value]) => looksSecret(name, value)).map(([name]) => name))];
  for (const name of secret) parameters.set(name, REDACTED);
  return secret;
}

/** Long values that mix digits with letters of both cases are not words, numbers or hexadecimal hashes. */
function looksSecret(name: string, value: string): boolean {
  if (value === '') return false;
  const mixed = /^[\w+/=.~-]{24,}$/.test(value) && [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(value));
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value) || mixed;
}
