import react from '@vitejs/plugin-react'
import { configDefaults, defineConfig } from 'vitest/config'
import { requireNode } from './scripts/required-node.ts'

requireNode('unit')

/** Folders without state of their own (docs/architecture.md calls them pure): their tests can share a process, as threads. */
const PURE = [
  'lib/{analysis,api,formats,json,parsers,sampling,share,tasks,templates,tools,trajectory,util}/**/*.test.ts',
  'lib/rollout/{prompt,record}/**/*.test.ts',
  'lib/session/{forest,protocols}/**/*.test.ts',
  'lib/tokenizer/files/**/*.test.ts',
]

/** Milliseconds after which a test counts as hanging. Tests take less than 10 s, but the journeys that run beside them have priority. */
const TIMEOUT = 180_000

/** Options of every project, because projects do not inherit the options beside `projects`. */
const COMMON = {
  testTimeout: TIMEOUT,
  hookTimeout: TIMEOUT,
  expect: { poll: { timeout: TIMEOUT / 2 } },
  // Files share a worker, so that modules and jsdom are loaded once. This halves the time of all files.
  isolate: false,
} as const

const SETUP = ['./scripts/property-seed.ts', './scripts/shared-worker.ts']

const WHOLE = { branches: 100, functions: 100, lines: 100, statements: 99 }

export default defineConfig({
  test: {
    // By default, Vitest leaves one core unused.
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: [
        'lib/{analysis,api,formats,json,parsers,sampling,share,tasks,templates,tools,trajectory,util}/**/*.ts',
        'lib/rollout/{prompt,record}/**/*.ts',
        'lib/session/{forest,protocols}/**/*.ts',
        'lib/tokenizer/files/**/*.ts',
      ],
      exclude: ['**/test-*.ts', '**/golden/**'],
      reporter: ['text-summary', 'json-summary'],
      // Exports, masks and prompts are computed in these folders, so every branch of them has a test.
      thresholds: {
        'lib/{api,formats,parsers,tools,trajectory,util}/**/*.ts': WHOLE,
        'lib/rollout/{prompt,record}/**/*.ts': WHOLE,
        'lib/session/{forest,protocols}/**/*.ts': WHOLE,
        'lib/{analysis,json,sampling,share}/**/*.ts': { branches: 90 },
        'lib/templates/**/*.ts': { branches: 90 },
        'lib/tokenizer/files/**/*.ts': { branches: 90 },
        // Without bounds of their own, these folders could be covered less while the rest of their parent is covered more.
        'lib/analysis/repro/**/*.ts': { branches: 90 },
        'lib/templates/document/**/*.ts': { branches: 90 },
        'lib/templates/prefix-preservation/**/*.ts': { branches: 90 },
        'lib/templates/preview/**/*.ts': { branches: 90 },
      },
    },
    projects: [
      {
        test: { ...COMMON, name: 'pure', environment: 'node', include: PURE, setupFiles: SETUP, pool: 'threads' },
      },
      {
        test: {
          ...COMMON,
          name: 'node',
          environment: 'node',
          include: ['{app,lib,scripts,components,testing}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...PURE],
          setupFiles: SETUP,
        },
      },
      {
        plugins: [react()],
        test: {
          ...COMMON,
          name: 'dom',
          environment: 'jsdom',
          include: ['{app,components,lib}/**/*.test.tsx'],
          setupFiles: [...SETUP, './components/test-setup.ts'],
        },
      },
    ],
  },
})
