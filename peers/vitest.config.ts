import path from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { requireNode } from '../scripts/required-node.ts'

requireNode('test:peers')

/** Tests that need strands-sglang and the built-in server, but not SGLang: npm run test:peers -- --project strands. */
const STRANDS = [
  'peers/files/samples.test.ts',
  'peers/set-up/interpreter.test.ts',
  'peers/strands/{golden,reproduce}.test.ts',
]

/** Tests that need only torch, and the programs that read exported files: npm run test:peers -- --project exports. */
const EXPORTS = ['peers/files/{convert,exports}.test.ts']

/** Tests that need llama.cpp's server, but not SGLang: npm run test:peers -- --project llamacpp. */
const LLAMACPP = ['peers/servers/llamacpp.test.ts']

/** Tests that need vLLM, which takes minutes to start, and llama.cpp: npm run test:peers -- --project vllm. */
const VLLM = ['peers/servers/vllm.test.ts']

/** Tests that need SGLang with a mixture of experts and a LoRA adapter: npm run test:peers -- --project mixture. */
const MIXTURE = ['peers/servers/mixture.test.ts']

/** Tests that need only the clients of sessions, and a build: npm run test:peers -- --project sessions. */
const SESSIONS = ['peers/sessions/{built-in,clients,killed,repository-task,sessions}.test.ts']

/** Tests that need SGLang and the clients of sessions: npm run test:peers -- --project session-engines. */
const SESSION_ENGINES = ['peers/sessions/sglang.test.ts']

const timeouts = { testTimeout: 300_000, hookTimeout: 300_000 }

export default defineConfig({
  root: path.resolve(import.meta.dirname, '..'),
  test: {
    fileParallelism: false,
    projects: [
      {
        test: {
          name: 'sglang',
          include: ['peers/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            ...STRANDS,
            ...EXPORTS,
            ...LLAMACPP,
            ...VLLM,
            ...MIXTURE,
            'peers/sessions/*',
          ],
          globalSetup: ['peers/set-up/sglang-setup.ts'],
          ...timeouts,
        },
      },
      { test: { name: 'exports', include: EXPORTS, globalSetup: ['peers/set-up/exports-setup.ts'], ...timeouts } },
      { test: { name: 'llamacpp', include: LLAMACPP, globalSetup: ['peers/set-up/llamacpp-setup.ts'], ...timeouts } },
      { test: { name: 'mixture', include: MIXTURE, globalSetup: ['peers/set-up/mixture-setup.ts'], ...timeouts } },
      { test: { name: 'vllm', include: VLLM, globalSetup: ['peers/set-up/vllm-setup.ts'], ...timeouts } },
      { test: { name: 'sessions', include: SESSIONS, globalSetup: ['peers/set-up/sessions-setup.ts'], ...timeouts } },
      {
        test: {
          name: 'session-engines',
          include: SESSION_ENGINES,
          globalSetup: ['peers/set-up/session-engines-setup.ts'],
          ...timeouts,
        },
      },
      { test: { name: 'strands', include: STRANDS, globalSetup: ['peers/set-up/strands-setup.ts'], ...timeouts } },
    ],
  },
})
