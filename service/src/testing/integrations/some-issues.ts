import type { Json } from '@rrs/connectors';
import type { FakeVendor } from '@rrs/connectors/fakes';

/** The fake Snyk with only some of its issues, in projects with another name. */
export function someOf(snyk: FakeVendor, keep: (issue: number) => boolean, projects = 'shop'): FakeVendor {
  return {
    ...snyk,
    answer(options) {
      const answer = snyk.answer(options);
      return async (request) => {
        const given = await answer(request);
        if (!given.page) return { ...given, body: JSON.parse(JSON.stringify(given.body).replaceAll('acme/shop', `acme/${projects}`)) as Json };
        const { data, ...rest } = given.body as { data: { id: string }[] };
        return { ...given, body: { ...rest, data: data.filter(({ id }) => !/^\d+$/.test(id.slice(-12)) || keep(Number(id.slice(-12)))) } as Json };
      };
    },
  };
}
