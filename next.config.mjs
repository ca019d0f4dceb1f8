// @ts-check

/**
 * The configuration of Next. It is JavaScript, because Next would load its compiler at every start to read TypeScript.
 * @type {import('next').NextConfig}
 */
const config = {
  // scripts/build.ts has a folder for each state of the sources. The development server uses .next itself.
  distDir: process.env.ROLLSCOPE_BUILD ?? '.next',
  reactCompiler: true,
  experimental: {
    // The React compiler in Babel would take a third of the build's time.
    turbopackRustReactCompiler: true,
    // Writing the cache takes a fresh clone more processor time than a second build gains from it.
    turbopackFileSystemCacheForBuild: false,
  },
  turbopack: { rules: { '*.py': { condition: { query: '?raw' }, type: 'text' } } },
  poweredByHeader: false,
  // `npm run types` checks the types, those of the tests included. A check in the build would take longer than the build itself.
  // Next adds the folder of each build to a tsconfig.json, but not to one that extends another.
  typescript: { ignoreBuildErrors: true, tsconfigPath: 'tsconfig.build.json' },
  // Node loads these packages as they are, because they have native code, variable requires, or bundled assets.
  serverExternalPackages: [
    '@huggingface/transformers',
    '@huggingface/hub',
    '@strands-agents/sdk',
    'onnxruntime-node',
    'undici',
  ],
  // /sglang/model_info and its siblings must answer as SGLang does, without a redirect.
  skipTrailingSlashRedirect: true,
  // Some browsers request this path before they have read the link to the icon.
  rewrites: async () => [{ source: '/favicon.ico', destination: '/icon.svg' }],
}

export default config
