/**
 * What the inspector's benches share: the built application, a page of 1440×900 in the system's Chromium, and how long
 * what happens there takes. Times are the page's own (performance.now), so that the bench's distance does not count.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from '@playwright/test'
import { startApplication, stopApplication, TOKEN } from '../e2e/application.ts'
import { findBrowser } from '../scripts/browser.ts'
import { buildWhenNeeded } from '../scripts/build.ts'

export interface Bench {
  readonly browser: Browser
  /** The process of the application. */
  readonly child: ChildProcess
  /** Address of the application. */
  readonly base: string
  /**
   * A new page of the application, or of another server: its long tasks are recorded from the first on. `context`: whose
   * connections and storage it shares; omitted: nobody's. `isHidden`: another tab is in front of it.
   */
  open(
    path?: string,
    base?: string,
    options?: { readonly context?: BrowserContext; readonly isHidden?: boolean },
  ): Promise<Page>
  /** For pages of one user. */
  newContext(): Promise<BrowserContext>
}

/**
 * Builds the application where its sources changed, starts it on data of its own, and ends it afterwards. `own`: further
 * variables of its environment.
 */
export async function withBench(
  measure: (bench: Bench) => Promise<void>,
  own: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (!(await buildWhenNeeded())) throw new Error('the application cannot be built')
  const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-'))
  const application = await startApplication(data, own)
  const executablePath = findBrowser()
  const browser = await chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    // Heap figures are exact, and the collector can be asked to work before they are read.
    args: ['--no-sandbox', '--disable-gpu', '--enable-precise-memory-info', '--js-flags=--expose-gc'],
  })
  const newContext = async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    await context.addInitScript(record, TOKEN)
    return context
  }
  try {
    await measure({
      browser,
      child: application.child,
      base: application.base,
      newContext,
      async open(address = '/', base = application.base, { context, isHidden = false } = {}) {
        const page = await (context ?? (await newContext())).newPage()
        if (isHidden) await page.addInitScript(hide)
        page.on('pageerror', (error) => console.error(`error in the page: ${error.message}`))
        await page.goto(new URL(address, base).href)
        return page
      },
    })
  } finally {
    await browser.close()
    await stopApplication(application, 'SIGTERM')
    rmSync(data, { recursive: true, force: true })
  }
}

interface Recorded {
  /** Of tasks over 50 ms, in milliseconds. */
  readonly longTasks: { readonly start: number; readonly duration: number }[]
  /** When a file input last changed. */
  chosen: number
}

declare global {
  interface Window {
    recorded: Recorded
  }
}

/** Runs in the page before its own scripts: to the browser of the bench every page is in front. */
function hide(): void {
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
  Object.defineProperty(document, 'hidden', { get: () => true })
}

/** Runs in the page before its own scripts. */
function record(token: string): void {
  window.localStorage.setItem('rollscope.token', token)
  const longTasks: { start: number; duration: number }[] = []
  window.recorded = { longTasks, chosen: Number.NaN }
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) longTasks.push({ start: startTime, duration })
  }).observe({ type: 'longtask', buffered: true })
  window.addEventListener(
    'change',
    () => {
      window.recorded.chosen = performance.now()
    },
    true,
  )
}

/** Opens a file by the Open dialog, and does not wait for what comes of it. */
export async function chooseFile(page: Page, file: string): Promise<void> {
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
}

/** A stored trajectory: its tokens are drawn when it returns. */
export async function openStored(page: Page, file: string): Promise<void> {
  await chooseFile(page, file)
  await page.waitForURL(/\/t\//, { timeout: 120_000 })
  await page.locator(FIRST_TOKENS).first().waitFor()
  await settled(page)
}

/** Rows of tokens, as soon as there are any. */
export const FIRST_TOKENS = '.token-row'

/** Resolves when no task over 50 ms has run for half a second. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const pause = 500
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pause))
      const last = window.recorded.longTasks.at(-1)
      if (!last || last.start + last.duration < performance.now() - pause) return
    }
  })
}

/** Milliseconds of the page's tasks over 50 ms since `start` (the page's time), longest first. */
export const longTasks = (page: Page, start = 0): Promise<readonly number[]> =>
  page.evaluate(
    (from) =>
      window.recorded.longTasks
        .filter((task) => task.start + task.duration >= from)
        .map(({ duration }) => duration)
        .sort((a, b) => b - a),
    start,
  )

/** The page's time, in milliseconds. */
export const now = (page: Page): Promise<number> => page.evaluate(() => performance.now())

/** Milliseconds from frame to frame while `step` runs in each of `count` frames; it gets the number of its frame. */
export const frames = <T>(
  page: Page,
  count: number,
  step: (frame: number, given: T) => void,
  given: T,
): Promise<readonly number[]> =>
  evaluateSource(
    page,
    async (count: number, step: (frame: number, given: T) => void, given: T) => {
      const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
      const times: number[] = []
      let last = await nextFrame()
      for (let frame = 0; frame < count; frame++) {
        step(frame, given)
        const time = await nextFrame()
        times.push(time - last)
        last = time
      }
      return times
    },
    count,
    step,
    given,
  )

/**
 * Milliseconds from right before `act` (runs in the page: a click, a pointer event) until the picture in which `isDone`
 * first holds has been drawn.
 */
export const untilDrawn = <T>(
  page: Page,
  act: (given: T) => void,
  isDone: (given: T) => boolean,
  given: T,
): Promise<number> =>
  evaluateSource(
    page,
    async (act: (given: T) => void, isDone: (given: T) => boolean, given: T) => {
      const start = performance.now()
      act(given)
      while (!isDone(given)) await new Promise((resolve) => requestAnimationFrame(resolve))
      // A task behind the frame: style, layout and paint of that frame are done.
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
      return performance.now() - start
    },
    act,
    isDone,
    given,
  )

/** As page.evaluate, with functions among the arguments; the page's policy forbids to make them there. */
function evaluateSource<Arguments extends readonly unknown[], Result>(
  page: Page,
  run: (...given: Arguments) => Promise<Result>,
  ...given: Arguments
): Promise<Result> {
  const sources = given.map((value) => (typeof value === 'function' ? `${value}` : JSON.stringify(value)))
  return page.evaluate(`(${run})(${sources.join(', ')})`)
}

interface Weight {
  /** Elements and texts in the document. */
  readonly nodes: number
  /** JavaScript heap of the page after a collection, in bytes; what typed arrays hold is beside it. */
  readonly heap: number
  /** Bytes that typed arrays of the page hold. */
  readonly buffers: number
}

export async function weigh(page: Page): Promise<Weight> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize, backingStorageSize } = await heapUsage(session)
  await session.detach()
  const nodes = await page.evaluate(() => {
    let count = 0
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL)
    while (walker.nextNode()) count++
    return count
  })
  return { nodes, heap: usedSize, buffers: backingStorageSize ?? 0 }
}

const heapUsage = (session: CDPSession): Promise<{ readonly usedSize: number; readonly backingStorageSize?: number }> =>
  session.send('Runtime.getHeapUsage')

/** Of a list of milliseconds: the value that `share` of them do not exceed. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
