// Runs before the first paint, so that a dark page never flashes white. The console keeps the choice up to date.
const chosen = localStorage.getItem('rrs-theme');
const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
