import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../testing/http/app.ts';
import type { AppOptions } from '../app.ts';
import { createLimiter } from './rate-limit.ts';

function limiterAt(perMinute: number, burst: number) {
  const time = { now: 1_000_000 };
  return { time, limiter: createLimiter({ perMinute, burst }, { now: () => time.now }) };
}

describe('a limiter', () => {
  it('allows a burst, then refills over time', () => {
    const { time, limiter } = limiterAt(60, 3);
    expect(Array.from({ length: 4 }, () => limiter.take('a'))).toEqual([
      { allowed: true, remaining: 2, seconds: 1 },
      { allowed: true, remaining: 1, seconds: 2 },
      { allowed: true, remaining: 0, seconds: 3 },
      { allowed: false, remaining: 0, seconds: 1 },
    ]);
    time.now += 999;
    expect(limiter.take('a').allowed).toBe(false);
    time.now += 1;
    expect(limiter.take('a').allowed).toBe(true);
    time.now += 3_600_000;
    expect(limiter.take('a')).toEqual({ allowed: true, remaining: 2, seconds: 1 });
  });

  it('counts each key separately, and does not count a look', () => {
    const { limiter } = limiterAt(60, 1);
    expect([limiter.look('a').allowed, limiter.look('a').allowed, limiter.take('a').allowed]).toEqual([true, true, true]);
    expect([limiter.look('a').allowed, limiter.look('b').allowed]).toEqual([false, true]);
  });

  it('tolerates a clock that is set back', () => {
    const { time, limiter } = limiterAt(60, 2);
    limiter.take('a');
    limiter.take('a');
    time.now -= 600_000;
    expect(limiter.take('a')).toEqual({ allowed: false, remaining: 0, seconds: 1 });
    time.now += 1_000;
    expect(limiter.take('a').allowed).toBe(true);
  });

  it('never allows more than burst plus rate, and returns the exact time to wait', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 20 }), waits, (perMinute, burst, steps) => {
        const { time, limiter } = limiterAt(perMinute, burst);
        const start = time.now;
        let allowed = 0;
        for (const step of steps) {
          time.now += step;
          const verdict = limiter.take('a');
          if (verdict.allowed) allowed++;
          else expect(verdict.seconds).toBeGreaterThanOrEqual(1);
          expect(allowed).toBeLessThanOrEqual(burst + ((time.now - start) * perMinute) / 60_000 + 1e-6);
          if (!verdict.allowed) {
            time.now += verdict.seconds * 1_000;
            expect(limiter.look('a').allowed).toBe(true);
          }
        }
      }),
    );
  });

  it('drops only full buckets', () => {
    const { time, limiter } = limiterAt(60, 2);
    for (let index = 0; index < 9_999; index++) limiter.take(`idle ${index}`);
    time.now += 2_000;
    limiter.take('busy');
    limiter.take('busy');
    for (let index = 0; index < 20; index++) limiter.take(`new ${index}`);
    expect(limiter.take('busy').allowed).toBe(false);
  });

  it('stays fast with very many active keys', () => {
    const { limiter } = limiterAt(1, 2);
    const started = performance.now();
    for (let index = 0; index < 60_000; index++) limiter.take(`key ${index}`);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

async function start(overrides: Partial<AppOptions>) {
  const time = { now: 1_000_000 };
  const { app } = await startApp((api) => api.get('/api/v1/me', { config: { access: 'authenticated' } }, async () => ({})), {
    clock: { now: () => time.now },
    ...overrides,
  });
  onTestFinished(() => app.close());
  const get = (token: string, headers: Record<string, string> = {}) =>
    app.inject({ url: '/api/v1/me', headers: { authorization: `Bearer ${token}`, ...headers } });
  return { time, get };
}

describe('requests of a credential', () => {
  it('are counted in headers, and refused above the limit until it refills', async () => {
    const { time, get } = await start({ rateLimit: { perMinute: 60, burst: 2 } });
    const answers = [await get('ada:viewer'), await get('ada:viewer'), await get('ada:viewer')];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => headers.ratelimit)).toEqual(['"default";r=1;t=1', '"default";r=0;t=2', '"default";r=0;t=1']);
    for (const { headers } of answers) expect(headers['ratelimit-policy']).toBe('"default";q=60;w=60;burst=2');
    const refused = answers[2];
    expect(refused?.headers['retry-after']).toBe('1');
    expect(refused?.json()).toMatchObject({ code: 'rate_limited', detail: 'You exceeded the limit of 60 requests per minute. Retry in 1 second.' });
    time.now += 1_000;
    expect((await get('ada:viewer')).statusCode).toBe(200);
  });

  it('do not count against another credential from the same IP address', async () => {
    const { get } = await start({ rateLimit: { perMinute: 60, burst: 1 } });
    expect((await get('ada:viewer')).statusCode).toBe(200);
    expect((await get('ada:viewer')).statusCode).toBe(429);
    expect((await get('bob:viewer')).statusCode).toBe(200);
  });

  it('are not counted if the limit is off', async () => {
    const { get } = await start({ rateLimit: { perMinute: 0, burst: 1 } });
    const answers = await Promise.all(Array.from({ length: 50 }, () => get('ada:viewer')));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect(answers[0]?.headers).not.toHaveProperty('ratelimit');
  });
});

describe('unknown tokens', () => {
  it('are limited by IP address, while a valid key from there still works', async () => {
    const { time, get } = await start({});
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 40; attempt++) statuses.push((await get(`guess${attempt}`)).statusCode);
    expect(statuses).toEqual([...Array(30).fill(401), ...Array(10).fill(429)]);
    const refused = await get('another');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.json().detail).toContain('Too many failed sign-ins from your address.');
    expect((await get('ada:viewer')).statusCode).toBe(200);
    time.now += Number(refused.headers['retry-after']) * 1_000;
    expect((await get('another')).statusCode).toBe(401);
  });

  it('count against the IP address that a trusted proxy reports', async () => {
    const { get } = await start({ trustedProxies: ['127.0.0.1'] });
    for (let attempt = 0; attempt < 31; attempt++) await get('guess', { 'x-forwarded-for': '198.51.100.1' });
    expect((await get('guess', { 'x-forwarded-for': '198.51.100.1' })).statusCode).toBe(429);
    expect((await get('guess', { 'x-forwarded-for': '198.51.100.2' })).statusCode).toBe(401);
    const direct = await start({});
    for (let attempt = 0; attempt < 31; attempt++) await direct.get('guess', { 'x-forwarded-for': `198.51.100.${attempt}` });
    expect((await direct.get('guess', { 'x-forwarded-for': '198.51.100.99' })).statusCode).toBe(429);
  });

  it('are not the same as requests without a token', async () => {
    const { get } = await start({});
    for (let attempt = 0; attempt < 40; attempt++) await get('', { authorization: '' });
    expect((await get('guess')).statusCode).toBe(401);
  });
});
