import react from '@vitejs/plugin-react'
import { configDefaults, defineConfig } from 'vitest/config'
import { requireNode } from './scripts/required-node.ts'

requireNode('unit')

/** Folders without state of their own (docs/architecture.md calls them pure): their tests can share a process, as threads. */
const PURE = [
  'lib/{analysis,api,formats,json,parsers,sampling,share,tasks,templates,tools,trajectory,util}/**/*.test.ts',
  'lib/rollout/{prompt,record}/**/*.test.ts',
  'lib/tokenizer/files/**/*.test.ts',
]

/** For what hangs. No test is to take 10 s, but the journeys go first, and the processor may be another's for most of the time. */
const TIMEOUT = 180_000

/** Of every project: one does not inherit what stands beside `projects`. */
const COMMON = {
  testTimeout: TIMEOUT,
  hookTimeout: TIMEOUT,
  expect: { poll: { timeout: TIMEOUT / 2 } },
  // Files share a worker, and with it the modules and the jsdom that the first one loaded: half of the time of all files.
  isolate: false,
} as const

const SETUP = ['./scripts/property-seed.ts', './scripts/shared-worker.ts']

const WHOLE = { branches: 100, functions: 100, lines: 100, statements: 99 }

export default defineConfig({
  test: {
    // Every core: unless told, one is left unused, which of two is half.
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: [
        'lib/{analysis,api,formats,json,parsers,sampling,share,tasks,templates,tools,trajectory,util}/**/*.ts',
        'lib/rollout/{prompt,record}/**/*.ts',
        'lib/tokenizer/files/**/*.ts',
      ],
      exclude: ['**/test-*.ts', '**/golden/**'],
      reporter: ['text-summary', 'json-summary'],
      // What an export, a mask or a prompt is made of: what is not tried there is not known to be right.
      thresholds: {
        'lib/{api,formats,parsers,tools,trajectory,util}/**/*.ts': WHOLE,
        'lib/rollout/{prompt,record}/**/*.ts': WHOLE,
        'lib/{analysis,json,sampling,share}/**/*.ts': { branches: 90 },
        'lib/templates/**/*.ts': { branches: 90 },
        'lib/tokenizer/files/**/*.ts': { branches: 90 },
        // A folder of its own does not hide behind the others.
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
          include: ['{lib,scripts,components,testing}/**/*.test.ts'],
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
          include: ['{components,lib}/**/*.test.tsx'],
          setupFiles: [...SETUP, './components/test-setup.ts'],
        },
      },
    ],
  },
})
