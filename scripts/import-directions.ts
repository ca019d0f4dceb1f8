/**
 * Which folder may import which, and which folder is the home of each outside package. Imports point one way:
 * app → components, lib/client; app/api → lib/server → adapters → pure folders. import-directions.test.ts holds the
 * code against this table.
 */

interface Room {
  /** Folders that it may import, besides itself and lib/core. */
  readonly imports: readonly string[]
  /** Outside packages that it may import, node: modules by their full name; '*' = any of Node's. */
  readonly packages: readonly string[]
}

/** Pure folders: plain data and functions; no React, Next, Node, DOM, network or SDK. */
const pure = (imports: readonly string[], packages: readonly string[] = []): Room => ({ imports, packages })

export const rooms: Readonly<Record<string, Room>> = {
  'lib/core': pure([], ['zod', '@noble/hashes']),
  'lib/parsers': pure([]),
  'lib/templates': pure([]),
  'lib/tito': pure(['lib/parsers', 'lib/templates']),
  'lib/tokenizer-files': pure(['lib/tito', 'lib/templates'], ['@huggingface/tokenizers', '@noble/hashes', 'zod']),
  'lib/lab': pure(['lib/parsers', 'lib/templates', 'lib/tito', 'lib/tokenizer-files'], ['zod', 'fast-check']),
  'lib/formats': pure([], ['zod']),
  'lib/inspect': pure(['lib/parsers', 'lib/tito', 'lib/formats', 'lib/lab', 'lib/offline']),
  'lib/settings': pure([], ['zod']),
  'lib/offline': pure([], ['@noble/hashes']),

  'lib/sglang': { imports: ['lib/templates', 'lib/tito'], packages: ['node:*', 'undici', 'zod', 'eventsource-parser'] },
  'lib/tokenizer': {
    imports: ['lib/tito', 'lib/templates', 'lib/tokenizer-files'],
    packages: ['node:*', '@huggingface/hub', 'zod'],
  },
  'lib/agent': {
    imports: ['lib/tito', 'lib/parsers', 'lib/templates', 'lib/sglang'],
    packages: ['@strands-agents/sdk', '@cfworker/json-schema', 'fraction.js', 'node:timers/promises', 'node:vm', 'zod'],
  },
  'lib/python': { imports: [], packages: ['node:*', 'zod'] },
  'lib/store': { imports: [], packages: ['node:*', 'zod'] },
  'lib/local-model': {
    imports: ['lib/tito', 'lib/tokenizer', 'lib/tokenizer-files'],
    packages: ['node:*', 'onnxruntime-node', '@huggingface/transformers', 'zod'],
  },
  'lib/command-line': {
    imports: ['lib/lab', 'lib/templates', 'lib/tokenizer', 'lib/tokenizer-files'],
    packages: ['node:*', 'zod'],
  },
  'lib/server': {
    imports: [
      'lib/agent',
      'lib/formats',
      'lib/inspect',
      'lib/lab',
      'lib/local-model',
      'lib/parsers',
      'lib/python',
      'lib/sglang',
      'lib/store',
      'lib/templates',
      'lib/tito',
      'lib/tokenizer',
      'lib/tokenizer-files',
    ],
    packages: ['node:*', 'next', 'zod'],
  },

  'lib/client': {
    imports: ['lib/formats', 'lib/inspect', 'lib/lab', 'lib/offline', 'lib/tokenizer-files'],
    packages: ['react', '@tanstack/react-query', 'zod'],
  },
  'components/ui': { imports: [], packages: ['react', 'lucide-react'] },
  'components/trajectory': { imports: ['components/ui'], packages: ['react', 'lucide-react'] },
  'components/library': {
    imports: ['components/ui', 'components/trajectory'],
    packages: ['react', 'lucide-react'],
  },
  'components/servers': {
    imports: ['components/ui', 'components/trajectory', 'lib/settings'],
    packages: ['react', 'lucide-react'],
  },
  'components/inspector': {
    imports: ['components/ui', 'components/trajectory', 'lib/inspect'],
    packages: ['react', 'lucide-react', 'marked', 'uplot'],
  },
  'components/offline': {
    imports: ['components/ui', 'components/trajectory', 'components/inspector', 'lib/inspect', 'lib/offline'],
    packages: ['react', 'react-dom', 'lucide-react'],
  },
  'components/playground': {
    imports: ['components/ui', 'components/trajectory', 'components/servers', 'lib/settings', 'lib/parsers'],
    packages: ['react', 'lucide-react', 'zod'],
  },
  'components/templates': {
    imports: ['components/ui', 'components/trajectory', 'lib/lab', 'lib/templates', 'lib/parsers'],
    packages: [
      'react',
      'lucide-react',
      '@codemirror/commands',
      '@codemirror/lang-json',
      '@codemirror/language',
      '@codemirror/lint',
      '@codemirror/search',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
    ],
  },
  app: {
    imports: [
      'components/templates',
      'lib/lab',
      'components/ui',
      'components/trajectory',
      'components/inspector',
      'components/servers',
      'components/playground',
      'components/library',
      'lib/settings',
      'lib/client',
    ],
    packages: [
      'react',
      'react-dom',
      'next',
      'nuqs',
      'lucide-react',
      '@tanstack/react-query',
      '@fontsource-variable/inter',
      '@fontsource-variable/jetbrains-mono',
    ],
  },
  'app/api': { imports: ['lib/server'], packages: [] },
  'app/sglang': { imports: ['lib/server'], packages: [] },
}

/** Everything may import these. */
export const everywhere: readonly string[] = ['lib/core']
