import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    // The page of an asset is /assets/….
    assetsDir: 'files',
    // The policy of the page forbids data: URLs for fonts and scripts, and small files are compressed well enough.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    license: true,
    // Which chunks a page loads: a test sums them.
    manifest: true,
    chunkSizeWarningLimit: 1000,
  },
});
