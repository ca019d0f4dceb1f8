/**
 * Measures the time from a key to the drawn frame in the template lab's preview, in Chromium, on a conversation of about
 * 10,000 tokens: `node bench/pages/preview.ts [tokenizer]`. The limit is 100 ms. It uses the built application, so run npm run
 * build first.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { startApplication, stopApplication, TOKEN } from '../../e2e/support/application.ts'
import { findBrowser } from '../../scripts/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const [, , tokenizer = 'built-in'] = process.argv
const KEYS = 60
const WARM_UP = 10
const PAUSE_MS = 500
const LIMIT_MS = 100

const messages = Array.from({ length: 48 }, (_, turn) =>
  turn % 2 === 0
    ? {
        role: 'user',
        content: `Question ${turn}: what is ${turn} * 17, and what would it be if we had counted from 1.5?`,
      }
    : {
        role: 'assistant',
        reasoning_content: `The question asks for a product. ${'First the tens, then the ones. '.repeat(6)}`,
        content: `It is ${turn * 17}. ${'The sum of the parts is the whole, as always. '.repeat(12)}`,
      },
)

const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-'))
const executablePath = findBrowser()
if (executablePath === undefined) throw new Error('there is no Chromium: npm test installs one')
const application = await startApplication(data)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(`${application.base}/templates?token=${TOKEN}&from=sample:qwen3-like`)
  await page.waitForURL((url) => !url.searchParams.has('token'))
  await page.goto(
    `${application.base}/templates?from=sample:qwen3-like&part=messages&as=json&tokenizer=${encodeURIComponent(tokenizer)}`,
  )
  const editor = page.locator('.cm-content').first()
  await editor.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(JSON.stringify(messages, null, 1))
  await page.locator('[data-preview-counts]').waitFor()
  await page.waitForTimeout(4_000)
  const counts = await page.locator('[data-preview-counts]').textContent()
  await page.goto(page.url().replace('part=messages', 'part=template').replace('&as=json', ''))
  await page.locator('[data-preview-counts]').waitFor()
  await page.waitForTimeout(3_000)
  await page.locator('.cm-content').first().click()
  await page.keyboard.press('ControlOrMeta+Home')
  const timed = () =>
    page.evaluate(() => performance.getEntriesByName('rollscope: preview').map(({ duration }) => duration))
  for (let key = 0; key < WARM_UP; key++) {
    await page.keyboard.type('x')
    await page.waitForTimeout(PAUSE_MS)
  }
  const before = (await timed()).length
  for (let key = 0; key < KEYS; key++) {
    await page.keyboard.type('y')
    await page.waitForTimeout(PAUSE_MS)
  }
  const times = (await timed()).slice(before)
  console.log(`${tokenizer}: ${counts}`)
  reportFigure('key → drawn preview, median', percentile(times, 0.5), 'ms')
  reportFigure('key → drawn preview, p95', percentile(times, 0.95), 'ms', LIMIT_MS)
  reportFigure('key → drawn preview, longest', Math.max(...times), 'ms')
} finally {
  await browser.close()
  await stopApplication(application, 'SIGTERM')
  rmSync(data, { recursive: true, force: true })
}
