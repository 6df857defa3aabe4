import { describe, expect, it } from 'vitest';
import { conditionErrors, meets } from './conditions.ts';

const github = {
  sub: 'repo:acme/shop:ref:refs/heads/main',
  repository: 'acme/shop',
  repository_id: '4711',
  ref: 'refs/heads/main',
  environment: 'production',
  run_number: 7,
  ref_protected: true,
  groups: ['acme/shop'],
  nested: { repository: 'acme/shop' },
};

describe('conditions', () => {
  it.each([
    [{ repository: ['acme/shop'] }, true],
    [{ repository: ['acme/other', 'acme/shop'] }, true],
    [{ repository: ['acme/*'] }, true],
    [{ repository: ['acme/s*p'] }, true],
    [{ repository: ['acme/*'], ref: ['refs/heads/main'] }, true],
    [{ repository: ['acme/shop'], run_number: ['7'], ref_protected: ['true'] }, true],
    [{ sub: ['repo:acme/shop:ref:refs/heads/*'] }, true],
    [{ repository: ['acme/shop'], ref: ['refs/heads/release'] }, false],
    [{ repository: ['acme/shop'], actor: ['ann'] }, false],
    [{ repository: ['ACME/shop'] }, false],
    [{ repository: ['acme/sho'] }, false],
    [{ repository: ['acme/shop*'] }, false],
    [{ repository: ['acme/*/shop'] }, false],
    [{ ref: ['refs/*'] }, false],
    [{ sub: ['repo:acme/*'] }, false],
    [{ groups: ['acme/shop'] }, false],
    [{ nested: ['[object Object]'] }, false],
    [{ toString: ['x'] }, false],
    [{ repository: [] }, false],
    [{}, false],
  ])('%j: %s', (conditions, expected) => {
    expect(meets(conditions, github)).toBe(expected);
  });

  it('a wildcard does not reach over a separator, and strangers with a similar name do not match', () => {
    expect(meets({ repository: ['acme/*'] }, { repository: 'acme/shop/extra' })).toBe(false);
    expect(meets({ repository: ['acme/*'] }, { repository: 'acme-evil/shop' })).toBe(false);
    expect(meets({ repository: ['acme/*'] }, { repository: 'acme/' })).toBe(false);
    expect(meets({ sub: ['repo:acme/shop:*'] }, { sub: 'repo:acme/shop:pull_request' })).toBe(true);
  });

  it.each([
    [{ repository: ['acme/shop'] }, []],
    [{ sub: ['repo:acme/*:ref:refs/heads/main'] }, []],
    [{ repository: ['*'] }, ['/conditions/repository/0']],
    [{ repository: ['acme/shop', 'acme*'] }, ['/conditions/repository/1']],
    [{ repository: ['*/shop'] }, ['/conditions/repository/0']],
    [{ sub: ['repo:*/shop:ref:refs/heads/main'] }, ['/conditions/sub/0']],
    [{ repository: ['acme/shop'], environment: ['*'] }, ['/conditions/environment/0']],
    [{ ref: ['refs/heads/main'] }, ['/conditions']],
    [{}, ['/conditions']],
  ])('%j is refused at %j', (conditions, paths) => {
    expect(conditionErrors(conditions).map(({ path }) => path)).toEqual(paths);
  });
});
