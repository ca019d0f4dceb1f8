/**
 * Measures the template lab's preview in Chromium, on a conversation of about 10,000 tokens: the time from a key to the drawn
 * frame, and the memory of the page and its workers over 1,000 edits. Run `node bench/pages/preview.ts [tokenizer]`.
 */
import type { Page } from '@playwright/test'
import { weigh, withBench, workersHeap } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const [, , tokenizer = 'built-in'] = process.argv
const KEYS = 60
const WARM_UP = 10
const PAUSE_MS = 500
const LIMIT_MS = 100
const EDITS = 1_000
/** By then the editor has most of the undo steps that it keeps. */
const FIRST_EDITS = 500
/** Long enough for most edits to be rendered and drawn. */
const SHORT_PAUSE_MS = 60
const MOST_GROWTH = 1.1

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

await withBench(async ({ open }) => {
  const address = `/templates?from=sample:qwen3-like&tokenizer=${encodeURIComponent(tokenizer)}`
  const page = await open(`${address}&part=messages&as=json`)
  const counts = page.locator('[data-preview-counts]')
  await page.locator('.cm-content').first().click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(JSON.stringify(messages, null, 1))
  await counts.waitFor()
  await page.waitForTimeout(4_000)
  const countsText = await counts.textContent()
  await page.goto(page.url().replace('part=messages', 'part=template').replace('&as=json', ''))
  await counts.waitFor()
  await page.waitForTimeout(3_000)
  await page.locator('.cm-content').first().click()
  await page.keyboard.press('ControlOrMeta+Home')
  console.log(`${tokenizer}: ${countsText}`)
  await measureKeys(page)
  await measureMemory(page)
})

async function measureKeys(page: Page): Promise<void> {
  await typeKeys(page, WARM_UP, PAUSE_MS)
  const before = (await previewTimes(page)).length
  await typeKeys(page, KEYS, PAUSE_MS)
  const times = (await previewTimes(page)).slice(before)
  reportFigure('key → drawn preview, median', percentile(times, 0.5), 'ms')
  reportFigure('key → drawn preview, p95', percentile(times, 0.95), 'ms', LIMIT_MS)
  reportFigure('key → drawn preview, longest', Math.max(...times), 'ms')
}

/** Compares the memory after 1,000 edits with that after the first 500. */
async function measureMemory(page: Page): Promise<void> {
  await typeKeys(page, FIRST_EDITS, SHORT_PAUSE_MS)
  const first = await memoryOf(page)
  await typeKeys(page, EDITS - FIRST_EDITS, SHORT_PAUSE_MS)
  const last = await memoryOf(page)
  for (const where of ['page', 'workers'] as const) {
    reportFigure(`${where}: memory after ${EDITS} edits`, last[where] / 1e6, 'MB')
    reportFigure(
      `${where}: memory after ${EDITS} edits over ${FIRST_EDITS}`,
      last[where] / first[where],
      '×',
      MOST_GROWTH,
    )
  }
}

async function memoryOf(page: Page): Promise<{ readonly page: number; readonly workers: number }> {
  // The last edits have been drawn by then.
  await page.waitForTimeout(2_000)
  const { heap, buffers } = await weigh(page)
  return { page: heap + buffers, workers: await workersHeap(page) }
}

/** Types letters into a comment of the template. Every second key removes the letter, so that the text keeps its length. */
async function typeKeys(page: Page, count: number, pauseMs: number): Promise<void> {
  for (let key = 0; key < count; key++) {
    await page.keyboard.press(key % 2 === 0 ? 'x' : 'Backspace')
    await page.waitForTimeout(pauseMs)
  }
}

function previewTimes(page: Page): Promise<readonly number[]> {
  return page.evaluate(() => performance.getEntriesByName('rollscope: preview').map(({ duration }) => duration))
}
