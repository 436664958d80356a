import { defineConfig } from 'vite';

export default defineConfig({
  esbuild: { jsx: 'automatic', legalComments: 'none' },
  build: {
    target: 'es2021',
    // The policy of the server lets no data: address in, and every name in assets/ carries a hash.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
