// The health check of the container image, which has no curl. `start` and `api` listen on PORT, `worker` on RRS_WORKER_PORT.
const { PORT, RRS_WORKER_PORT } = process.env;
const isHealthy = async (port) => (await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) })).ok;
const answers = await Promise.allSettled([...new Set([PORT, RRS_WORKER_PORT])].filter(Boolean).map(isHealthy));
process.exit(answers.some(({ value }) => value === true) ? 0 : 1);
