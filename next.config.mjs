// @ts-check

/**
 * JavaScript, because Next loads its compiler at every start to read a configuration in TypeScript.
 * @type {import('next').NextConfig}
 */
const config = {
  // scripts/build.ts builds into a folder of its own for each state of the sources. Development has .next itself.
  distDir: process.env.ROLLSCOPE_BUILD ?? '.next',
  reactCompiler: true,
  experimental: {
    // Babel's version of it takes a third of the build.
    turbopackRustReactCompiler: true,
    // Writing the cache takes a fresh clone more processor time than a second build gains from it.
    turbopackFileSystemCacheForBuild: false,
  },
  turbopack: { rules: { '*.py': { condition: { query: '?raw' }, type: 'text' } } },
  poweredByHeader: false,
  // `npm run types` checks them, with the tests: a build would check everything again, which takes longer than the build itself.
  // Next adds the folder of each build to a tsconfig.json, but not to one that extends another.
  typescript: { ignoreBuildErrors: true, tsconfigPath: 'tsconfig.build.json' },
  // Loaded by Node as they are: native code, variable requires, or their own bundled assets.
  serverExternalPackages: [
    '@huggingface/transformers',
    '@huggingface/hub',
    '@strands-agents/sdk',
    'onnxruntime-node',
    'undici',
  ],
  // /sglang/model_info and its siblings must answer as SGLang does, with no redirect in front.
  skipTrailingSlashRedirect: true,
  // Some browsers ask for it before they have read the link to the icon.
  rewrites: async () => [{ source: '/favicon.ico', destination: '/icon.svg' }],
}

export default config
