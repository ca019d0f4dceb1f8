/**
 * The folders that each folder may import, and the folders that may import each package. Imports have one direction: app →
 * components → lib/browser, and app/api → lib/server → adapters; both end in the pure folders. imports.test.ts compares the
 * sources with this table.
 */

interface Room {
  /** Folders that it may import, besides itself and the domain. */
  readonly imports: readonly string[]
  /** Packages that it may import, modules of Node with their full name; 'node:*' means all of them. */
  readonly packages: readonly string[]
}

/** The domain: plain data and functions that every folder may import. Each domain folder may import those before it. */
export const domain: readonly string[] = [
  'lib/util',
  'lib/json',
  'lib/tools',
  'lib/sampling',
  'lib/trajectory',
  'lib/api',
]

/** Returns the rules of a pure folder: plain data and functions without React, Next, Node, DOM, network or SDK. */
const pure = (imports: readonly string[], packages: readonly string[] = []): Room => ({ imports, packages })

const TEMPLATES = ['lib/templates', 'lib/templates/jinja']

/** Imports of every tool of the template lab. */
const LAB = [
  ...TEMPLATES,
  'lib/parsers',
  'lib/rollout/prompt',
  'lib/rollout/record',
  'lib/tasks',
  'lib/templates/document',
  'lib/tokenizer',
]

/** Imports of every page. */
const PAGE = [
  'components/ui',
  'components/token-view',
  'components/commands',
  'components/export',
  'components/shell',
  'components/tokenizer',
  'components/sharing',
  'components/library',
  'lib/browser',
]
const REACT = ['react', 'react-dom', 'next', 'nuqs', 'lucide-react', '@tanstack/react-query']

/** The rules of every folder. */
export const rooms: Readonly<Record<string, Room>> = {
  'lib/util': pure([], ['zod']),
  'lib/json': pure([]),
  'lib/tools': pure([], ['zod']),
  'lib/sampling': pure([], ['zod']),
  'lib/trajectory': pure([], ['zod', '@noble/hashes']),
  'lib/api': pure([], ['zod']),

  'lib/parsers': pure([]),
  'lib/formats': pure(
    ['lib/parsers'],
    ['zod', 'fflate', 'fzstd', 'hyparquet', 'hyparquet-writer', '@uwdata/flechette'],
  ),
  'lib/templates/jinja': pure([]),
  'lib/templates': pure(['lib/templates/jinja']),
  'lib/tokenizer/files': pure(
    ['lib/tokenizer', 'lib/templates', 'lib/rollout/prompt'],
    ['@huggingface/tokenizers', '@noble/hashes', 'zod'],
  ),
  'lib/tokenizer': pure([]),
  'lib/rollout/prompt': pure([...TEMPLATES, 'lib/parsers', 'lib/tokenizer']),
  'lib/rollout/record': pure(['lib/parsers', 'lib/rollout/prompt', 'lib/tokenizer']),
  'lib/rollout/branch': pure(['lib/parsers', 'lib/rollout/record', 'lib/tokenizer']),
  'lib/session': pure(['lib/rollout/record']),
  'lib/session/protocols': pure(
    ['lib/session', 'lib/parsers', 'lib/rollout/prompt', 'lib/rollout/record', ...TEMPLATES],
    ['zod'],
  ),
  'lib/tasks': pure(['lib/templates', 'lib/tokenizer']),
  'lib/templates/document': pure([...LAB, 'lib/templates/tool-parsing', 'lib/tokenizer/files'], ['diff', 'zod']),
  'lib/templates/loss-mask': pure(LAB),
  'lib/templates/prefix-preservation': pure(LAB, ['fast-check']),
  'lib/templates/preview': pure([...LAB, 'lib/templates/loss-mask']),
  'lib/templates/tool-parsing': pure(LAB),
  'lib/templates/tasks': pure([
    ...LAB,
    'lib/templates/loss-mask',
    'lib/templates/prefix-preservation',
    'lib/templates/preview',
    'lib/templates/tool-parsing',
  ]),
  'lib/share/offline': pure([], ['@noble/hashes']),
  'lib/share/settings': pure(['lib/parsers'], ['zod']),
  'lib/share/reproduce': pure(['lib/analysis', 'lib/templates/document', 'models/training']),
  'lib/analysis': pure([...LAB, 'lib/formats', 'lib/share/offline', 'lib/templates/loss-mask'], ['zod']),
  'lib/session/forest': pure(
    ['lib/analysis', 'lib/rollout/prompt', 'lib/rollout/record', 'lib/templates', 'lib/tokenizer'],
    ['@noble/hashes'],
  ),

  'lib/engine': {
    imports: [...TEMPLATES, 'lib/rollout/prompt', 'lib/rollout/record', 'lib/tokenizer'],
    packages: ['node:*', 'undici', 'zod', 'eventsource-parser'],
  },
  'lib/sglang': {
    imports: ['lib/engine', 'lib/rollout/prompt', 'lib/tokenizer'],
    packages: ['node:*', 'zod'],
  },
  'lib/llamacpp': { imports: ['lib/engine', 'lib/rollout/prompt'], packages: ['zod'] },
  'lib/vllm': { imports: ['lib/engine', 'lib/rollout/prompt'], packages: ['zod'] },
  'lib/tokenizer/hub': { imports: ['lib/tokenizer/files'], packages: ['node:*', '@huggingface/hub'] },
  'lib/files': { imports: ['lib/formats'], packages: ['node:*'] },
  'lib/download': { imports: ['lib/engine'], packages: ['node:net', 'undici'] },
  'lib/time-limit': { imports: [], packages: ['node:vm'] },
  'lib/rollout': {
    imports: [
      'lib/parsers',
      'lib/rollout/prompt',
      'lib/rollout/record',
      'lib/engine',
      'lib/sglang',
      'lib/templates',
      'lib/time-limit',
      'lib/tokenizer',
    ],
    packages: ['@strands-agents/sdk', '@cfworker/json-schema', 'fraction.js', 'node:timers/promises', 'node:vm', 'zod'],
  },
  'lib/rollout/python': { imports: ['lib/rollout'], packages: ['node:*', 'pyodide', 'zod'] },
  'lib/mcp': { imports: [], packages: ['node:*', '@modelcontextprotocol/sdk', 'zod'] },
  'lib/python-renderer': { imports: [], packages: ['node:*', 'zod'] },
  'lib/store': { imports: [], packages: ['node:*', 'zod'] },

  'lib/builtin-server/http': { imports: [], packages: ['zod'] },
  'lib/builtin-server/models': {
    imports: ['lib/tokenizer', 'lib/tokenizer/hub'],
    packages: ['node:*', 'onnxruntime-node', 'zod'],
  },
  'lib/builtin-server/engine': {
    imports: ['lib/builtin-server/models', 'lib/time-limit'],
    packages: ['node:*', '@huggingface/transformers-structured-output'],
  },
  'lib/builtin-server/generate': {
    imports: [
      'lib/builtin-server/engine',
      'lib/builtin-server/http',
      'lib/builtin-server/models',
      'lib/templates/jinja',
    ],
    packages: ['zod'],
  },
  'lib/builtin-server/messages': {
    imports: ['lib/builtin-server/http', 'lib/parsers', 'lib/templates/jinja', 'lib/tokenizer/files'],
    packages: [],
  },
  'lib/builtin-server/openai': {
    imports: [
      ...TEMPLATES,
      'lib/builtin-server/engine',
      'lib/builtin-server/generate',
      'lib/builtin-server/http',
      'lib/builtin-server/messages',
      'lib/builtin-server/models',
      'lib/tokenizer/files',
    ],
    packages: [],
  },
  'lib/builtin-server': {
    imports: [
      'lib/builtin-server/engine',
      'lib/builtin-server/generate',
      'lib/builtin-server/http',
      'lib/builtin-server/messages',
      'lib/builtin-server/models',
      'lib/builtin-server/openai',
      'lib/tokenizer/files',
      'lib/tokenizer/hub',
    ],
    packages: ['zod'],
  },

  'lib/command-line': {
    imports: [
      'lib/analysis',
      'lib/api',
      'lib/engine',
      'lib/files',
      'lib/formats',
      'lib/tasks',
      'lib/templates/document',
      'lib/templates/loss-mask',
      'lib/templates/prefix-preservation',
      'lib/templates/tasks',
      'lib/tokenizer/files',
      'lib/tokenizer/hub',
    ],
    packages: ['node:*', 'zod'],
  },
  'lib/server': {
    imports: [
      ...LAB,
      'lib/analysis',
      'lib/builtin-server',
      'lib/builtin-server/engine',
      'lib/builtin-server/models',
      'lib/download',
      'lib/files',
      'lib/formats',
      'lib/mcp',
      'lib/python-renderer',
      'lib/rollout',
      'lib/rollout/branch',
      'lib/rollout/python',
      'lib/engine',
      'lib/llamacpp',
      'lib/vllm',
      'lib/sglang',
      'lib/session',
      'lib/session/forest',
      'lib/session/protocols',
      'lib/store',
      'lib/templates/loss-mask',
      'lib/templates/prefix-preservation',
      'lib/templates/preview',
      'lib/templates/tasks',
      'lib/templates/tool-parsing',
      'lib/time-limit',
      'lib/tokenizer/files',
      'lib/tokenizer/hub',
    ],
    packages: ['node:*', 'next', 'zod'],
  },

  'lib/browser': {
    imports: [
      'lib/analysis',
      'lib/formats',
      'lib/share/offline',
      'lib/share/settings',
      'lib/tasks',
      'lib/templates/document',
      'lib/templates/tasks',
      'lib/tokenizer/files',
    ],
    packages: ['react', '@tanstack/react-query', 'zod'],
  },
  'components/ui': { imports: [], packages: ['react', 'react-dom', 'lucide-react', 'marked'] },
  'components/token-view': { imports: ['components/ui'], packages: ['react', 'lucide-react'] },
  'components/commands': { imports: ['components/ui', 'components/token-view'], packages: ['react', 'lucide-react'] },
  // The dialog of keyboard shortcuts lists those of every page, from tables without state.
  'components/shell': {
    imports: [
      'components/ui',
      'components/token-view',
      'components/commands',
      'components/export',
      'components/docs',
      'components/compare',
      'components/group',
      'components/inspector',
      'components/sessions',
      'lib/analysis',
      'lib/browser',
    ],
    packages: REACT,
  },
  'components/export': {
    imports: ['components/ui', 'components/token-view', 'components/shell', 'lib/browser'],
    packages: ['react'],
  },
  'components/docs': { imports: ['components/ui', 'components/shell'], packages: ['react'] },
  'components/tokenizer': {
    imports: ['components/ui', 'components/shell', 'lib/browser', 'lib/templates/document'],
    packages: REACT,
  },
  'components/sharing': {
    imports: [
      'components/ui',
      'components/token-view',
      'lib/browser',
      'lib/share/reproduce',
      'lib/share/settings',
      'lib/templates/document',
    ],
    packages: REACT,
  },
  'components/library': { imports: PAGE, packages: REACT },
  'components/servers': { imports: [...PAGE, 'lib/share/settings'], packages: REACT },
  'components/inspector': {
    imports: [...PAGE, 'lib/analysis', 'lib/share/reproduce', 'lib/share/settings'],
    packages: [...REACT, 'uplot'],
  },
  'components/sessions': { imports: PAGE, packages: REACT },
  'components/compare': { imports: [...PAGE, 'lib/analysis'], packages: REACT },
  'components/file': { imports: [...PAGE, 'components/inspector'], packages: REACT },
  'components/group': { imports: [...PAGE, 'components/inspector', 'lib/analysis'], packages: REACT },
  'components/playground': {
    imports: [...PAGE, 'components/inspector', 'components/templates', 'lib/parsers', 'lib/share/settings'],
    packages: [...REACT, 'zod'],
  },
  'components/templates': {
    imports: [
      ...PAGE,
      'lib/parsers',
      'lib/tasks',
      'lib/templates/document',
      'lib/templates/loss-mask',
      'lib/templates/prefix-preservation',
      'lib/templates/preview',
      'lib/templates/tasks',
      'lib/templates/tool-parsing',
    ],
    packages: [
      ...REACT,
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
  // A page that is saved as one file works without a server, so it imports nothing of the shell or of lib/browser.
  'components/offline': {
    imports: [
      'components/ui',
      'components/token-view',
      'components/commands',
      'components/inspector',
      'lib/analysis',
      'lib/share/offline',
    ],
    packages: ['react', 'react-dom', 'lucide-react'],
  },
  app: {
    imports: [
      ...PAGE,
      'components/compare',
      'components/file',
      'components/group',
      'components/inspector',
      'components/playground',
      'components/servers',
      'components/sessions',
      'components/templates',
    ],
    packages: [...REACT, '@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono'],
  },
  // The documentation is read from its files on request.
  'app/docs': {
    imports: ['app', 'components/docs'],
    packages: ['node:fs/promises', 'node:path', 'next'],
  },
  'app/api': { imports: ['lib/server'], packages: [] },
  'app/sglang': { imports: ['lib/server'], packages: [] },
}
