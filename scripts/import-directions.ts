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
  'lib/formats': pure(['lib/parsers'], ['zod']),
  'lib/inspect': pure(['lib/parsers', 'lib/tito', 'lib/formats', 'lib/lab', 'lib/offline', 'lib/compare']),
  'lib/compare': pure(['lib/parsers', 'lib/templates', 'lib/tito', 'lib/lab'], ['zod']),
  'lib/settings': pure(['lib/parsers'], ['zod']),
  'lib/offline': pure([], ['@noble/hashes']),
  'lib/reproduce': pure(['lib/inspect', 'lib/lab']),

  'lib/sglang': { imports: ['lib/templates', 'lib/tito'], packages: ['node:*', 'undici', 'zod', 'eventsource-parser'] },
  'lib/tokenizer': {
    imports: ['lib/tito', 'lib/templates', 'lib/tokenizer-files'],
    packages: ['node:*', '@huggingface/hub', 'zod'],
  },
  'lib/agent': {
    imports: ['lib/tito', 'lib/parsers', 'lib/templates', 'lib/sglang', 'lib/time-limit'],
    packages: ['@strands-agents/sdk', '@cfworker/json-schema', 'fraction.js', 'node:timers/promises', 'node:vm', 'zod'],
  },
  'lib/time-limit': { imports: [], packages: ['node:vm'] },
  'lib/mcp': { imports: [], packages: ['node:*', '@modelcontextprotocol/sdk', 'zod'] },
  'lib/agent/python': { imports: ['lib/agent'], packages: ['node:*', 'pyodide', 'zod'] },
  'lib/python': { imports: [], packages: ['node:*', 'zod'] },
  'lib/store': { imports: [], packages: ['node:*', 'zod'] },
  'lib/local-model/http': { imports: [], packages: ['zod'] },
  'lib/local-model/models': { imports: ['lib/tito', 'lib/tokenizer'], packages: ['node:*', 'onnxruntime-node', 'zod'] },
  'lib/local-model/engine': {
    imports: ['lib/local-model/models', 'lib/time-limit'],
    packages: ['node:*', 'onnxruntime-node', '@huggingface/transformers-structured-output'],
  },
  'lib/local-model/generate': {
    imports: ['lib/local-model/engine', 'lib/local-model/http', 'lib/local-model/models', 'lib/templates'],
    packages: ['zod'],
  },
  'lib/local-model/messages': {
    imports: ['lib/local-model/http', 'lib/parsers', 'lib/templates', 'lib/tokenizer-files'],
    packages: [],
  },
  'lib/local-model/openai': {
    imports: [
      'lib/local-model/engine',
      'lib/local-model/generate',
      'lib/local-model/http',
      'lib/local-model/messages',
      'lib/local-model/models',
      'lib/templates',
      'lib/tokenizer-files',
    ],
    packages: [],
  },
  'lib/local-model': {
    imports: [
      'lib/local-model/engine',
      'lib/local-model/generate',
      'lib/local-model/http',
      'lib/local-model/messages',
      'lib/local-model/models',
      'lib/local-model/openai',
      'lib/tokenizer',
      'lib/tokenizer-files',
    ],
    packages: ['zod'],
  },
  'lib/command-line': {
    imports: ['lib/compare', 'lib/formats', 'lib/lab', 'lib/templates', 'lib/tokenizer', 'lib/tokenizer-files'],
    packages: ['node:*', 'zod'],
  },
  'lib/server': {
    imports: [
      'lib/agent',
      'lib/agent/python',
      'lib/compare',
      'lib/formats',
      'lib/inspect',
      'lib/lab',
      'lib/local-model',
      'lib/local-model/engine',
      'lib/local-model/models',
      'lib/mcp',
      'lib/parsers',
      'lib/python',
      'lib/sglang',
      'lib/store',
      'lib/templates',
      'lib/tito',
      'lib/time-limit',
      'lib/tokenizer',
      'lib/tokenizer-files',
    ],
    packages: ['node:*', 'next', 'zod'],
  },

  'lib/client': {
    imports: ['lib/compare', 'lib/formats', 'lib/inspect', 'lib/lab', 'lib/offline', 'lib/tokenizer-files'],
    packages: ['react', '@tanstack/react-query', 'zod'],
  },
  'components/ui': { imports: [], packages: ['react', 'lucide-react', 'marked'] },
  'components/docs': { imports: ['components/ui'], packages: [] },
  'components/trajectory': { imports: ['components/ui'], packages: ['react', 'lucide-react'] },
  'components/library': {
    imports: ['components/ui', 'components/trajectory'],
    packages: ['react', 'lucide-react'],
  },
  'components/servers': {
    imports: ['components/ui', 'components/trajectory', 'lib/settings'],
    packages: ['react', 'lucide-react'],
  },
  'components/commands': {
    imports: ['components/ui', 'components/trajectory'],
    packages: ['react'],
  },
  'components/inspector': {
    imports: ['components/ui', 'components/trajectory', 'components/commands', 'lib/inspect', 'lib/reproduce'],
    packages: ['react', 'lucide-react', 'uplot'],
  },
  'components/compare': {
    imports: ['components/ui', 'components/trajectory', 'components/commands', 'lib/compare'],
    packages: ['react', 'lucide-react'],
  },
  'components/offline': {
    imports: [
      'components/ui',
      'components/trajectory',
      'components/commands',
      'components/inspector',
      'lib/inspect',
      'lib/offline',
    ],
    packages: ['react', 'react-dom', 'lucide-react'],
  },
  'components/playground': {
    imports: [
      'components/ui',
      'components/trajectory',
      'components/servers',
      'components/templates',
      'lib/settings',
      'lib/parsers',
    ],
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
      'components/compare',
      'lib/compare',
      'components/templates',
      'lib/lab',
      'components/ui',
      'components/trajectory',
      'components/commands',
      'components/docs',
      'components/inspector',
      'components/servers',
      'components/playground',
      'components/library',
      'lib/reproduce',
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
  // The documentation is read from its files, where it is asked for.
  'app/docs': {
    imports: ['app', 'components/docs'],
    packages: ['node:fs/promises', 'node:path', 'next'],
  },
  'app/api': { imports: ['lib/server'], packages: [] },
  'app/sglang': { imports: ['lib/server'], packages: [] },
}

/** Everything may import these. */
export const everywhere: readonly string[] = ['lib/core']
