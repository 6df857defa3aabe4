import { Copy } from '../../parts/copy.tsx';

/** The address that the vendor calls when something changes there. */
export function InboundUrl({ url, provider }: { url: string | null; provider: string }) {
  if (url === null) return null;
  return (
    <p>
      URL for the webhook in {provider}: <Copy text={url} shown={url} label="Copy the URL" />
    </p>
  );
}
