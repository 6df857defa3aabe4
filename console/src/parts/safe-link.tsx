/** Threat: addresses in reports are text of other people. Only http and https become links, and the target does not learn where they were found. */
export function SafeLink({ href, children }: { href: string; children?: React.ReactNode }) {
  const isSafe = /^https?:\/\//i.test(href) && URL.canParse(href);
  if (!isSafe) return <span>{href}</span>;
  return (
    <a href={href} rel="noreferrer noopener" target="_blank">
      {children ?? href}
    </a>
  );
}
