import { useApi } from '../../api/client.ts';

/** Formats as people call them: "Grype" instead of "grype". */
export function useFormatNames(): (format: string) => string {
  const formats = useApi('listImportFormats', {}, { staleTime: Number.POSITIVE_INFINITY });
  return (format) => formats.data?.data.find(({ id }) => id === format)?.name ?? format;
}
