/**
 * Shared by the inspector's benches: the built application, a page of 1440×900 in the system's Chromium, and measurements of
 * it. Times come from the page itself (performance.now), so they exclude the communication with the bench.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from '@playwright/test'
import { startApplication, stopApplication, TOKEN } from '../../e2e/support/application.ts'
import { findBrowser } from '../../scripts/browser.ts'
import { buildWhenNeeded } from '../../scripts/build.ts'

/** The running application and a browser. */
export interface Bench {
  readonly browser: Browser
  /** The process of the application. */
  readonly child: ChildProcess
  /** Address of the application. */
  readonly base: string
  /**
   * Opens a page of the application or of another server; its long tasks are recorded from the start. `context` shares
   * connections and storage with other pages; without it the page has its own. `isHidden` simulates a page behind another
   * tab.
   */
  open(
    path?: string,
    base?: string,
    options?: { readonly context?: BrowserContext; readonly isHidden?: boolean },
  ): Promise<Page>
  /** Creates a context for several pages of one user. */
  newContext(): Promise<BrowserContext>
}

/**
 * Builds the application if its sources changed, starts it with its own data, and ends it after `measure`. `own` has further
 * environment variables.
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
    // These make heap figures exact and allow a garbage collection before they are read.
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
  /** Tasks over 50 ms, in milliseconds of the page's time. */
  readonly longTasks: { readonly start: number; readonly duration: number }[]
  /** The page's time of the last change of a file input. */
  chosen: number
  /** The page's time of the last click. */
  clicked: number
}

declare global {
  interface Window {
    recorded: Recorded
  }
}

/**
 * Runs in the page before its own scripts and makes the page hidden, because in the browser of the bench every page is in
 * front.
 */
function hide(): void {
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
  Object.defineProperty(document, 'hidden', { get: () => true })
}

/** Runs in the page before its own scripts. */
function record(token: string): void {
  window.localStorage.setItem('rollscope.token', token)
  const longTasks: { start: number; duration: number }[] = []
  window.recorded = { longTasks, chosen: Number.NaN, clicked: Number.NaN }
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) longTasks.push({ start: startTime, duration })
  }).observe({ type: 'longtask', buffered: true })
  for (const [kind, name] of [
    ['change', 'chosen'],
    ['click', 'clicked'],
  ] as const)
    window.addEventListener(
      kind,
      () => {
        window.recorded[name] = performance.now()
      },
      true,
    )
}

/** Opens a file with the Open dialog, without waiting for the result. */
export async function chooseFile(page: Page, file: string): Promise<void> {
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
}

/** Stores and opens a trajectory file. Returns when its tokens are drawn. */
export async function openStored(page: Page, file: string): Promise<void> {
  await chooseFile(page, file)
  await page.waitForURL(/\/t\//, { timeout: 120_000 })
  await page.locator(FIRST_TOKENS).first().waitFor()
  await waitUntilSettled(page)
}

/** Selector of rows with tokens. */
export const FIRST_TOKENS = '.token-row'

/** Returns the page's time after the first frame with an element that matches the selector. Throws if there is none after a minute. */
export function firstPaint(page: Page, selector: string): Promise<number> {
  return page.evaluate(async (selector) => {
    const start = performance.now()
    while (!document.querySelector(selector)) {
      if (performance.now() - start > 60_000) throw new Error(`nothing matches ${selector} after a minute`)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
    // The frame that has found it is painted before the next task.
    await new Promise((resolve) => setTimeout(resolve))
    return performance.now()
  }, selector)
}

/** Resolves when no task over 50 ms has run for half a second. */
export async function waitUntilSettled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const pause = 500
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pause))
      const last = window.recorded.longTasks.at(-1)
      if (!last || last.start + last.duration < performance.now() - pause) return
    }
  })
}

/** Returns the durations in milliseconds of the page's tasks over 50 ms since `start` (the page's time), longest first. */
export const longTasks = (page: Page, start = 0): Promise<readonly number[]> =>
  page.evaluate(
    (from) =>
      window.recorded.longTasks
        .filter((task) => task.start + task.duration >= from)
        .map(({ duration }) => duration)
        .sort((a, b) => b - a),
    start,
  )

/** Returns the page's time in milliseconds. */
export const now = (page: Page): Promise<number> => page.evaluate(() => performance.now())

/** Returns the milliseconds from frame to frame while `step` runs in each of `count` frames; it gets the number of its frame. */
export const frames = <T>(
  page: Page,
  count: number,
  step: (frame: number, argument: T) => void,
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
 * Returns the milliseconds from directly before `act` (which runs in the page, for example a click) until the first frame in
 * which `isDone` is true has been drawn. Throws if that takes longer than 30 s.
 */
export const untilDrawn = <T>(
  page: Page,
  act: (argument: T) => void,
  isDone: (given: T) => boolean,
  given: T,
): Promise<number> =>
  evaluateSource(
    page,
    async (act: (given: T) => void, isDone: (given: T) => boolean, given: T) => {
      const start = performance.now()
      act(given)
      do {
        if (performance.now() - start > 30_000) throw new Error(`30 s after ${act}, this is not true: ${isDone}`)
        await new Promise((resolve) => requestAnimationFrame(resolve))
      } while (!isDone(given))
      // In a task after the frame, its style, layout and paint are done.
      await new Promise((resolve) => setTimeout(resolve))
      return performance.now() - start
    },
    act,
    isDone,
    given,
  )

/** Does the same as page.evaluate, with functions among the arguments. The page's security policy forbids creating them there. */
function evaluateSource<Arguments extends readonly unknown[], Result>(
  page: Page,
  run: (...argument: Arguments) => Promise<Result>,
  ...given: Arguments
): Promise<Result> {
  const sources = given.map((value) => (typeof value === 'function' ? `${value}` : JSON.stringify(value)))
  return page.evaluate(`(${run})(${sources.join(', ')})`)
}

interface Weight {
  /** Elements and texts in the document. */
  readonly nodes: number
  /** JavaScript heap of the page after a collection, in bytes, without the content of typed arrays. */
  readonly heap: number
  /** Bytes in typed arrays of the page. */
  readonly buffers: number
}

/** Measures the nodes and the memory of a page after a garbage collection. */
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

interface HeapUsage {
  readonly usedSize: number
  readonly backingStorageSize?: number
}

const heapUsage = (session: CDPSession): Promise<HeapUsage> => session.send('Runtime.getHeapUsage')

/** Returns the JavaScript heap and the typed arrays of a page's workers after a garbage collection, in bytes. */
export async function workersHeap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  const waiting = new Map<number, (result: object) => void>()
  const workers: string[] = []
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type === 'worker') workers.push(sessionId)
  })
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result } = JSON.parse(message)
    waiting.get(id)?.(result)
  })
  let lastId = 0
  const call = (sessionId: string, method: string) => {
    const { promise, resolve } = Promise.withResolvers<object>()
    const id = ++lastId
    waiting.set(id, resolve)
    return session
      .send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) })
      .then(() => promise)
  }
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false })
  let bytes = 0
  for (const worker of workers) {
    await call(worker, 'HeapProfiler.collectGarbage')
    const usage = (await call(worker, 'Runtime.getHeapUsage')) as HeapUsage
    bytes += usage.usedSize + (usage.backingStorageSize ?? 0)
  }
  await session.detach()
  return bytes
}
