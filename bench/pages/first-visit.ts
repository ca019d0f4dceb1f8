/**
 * Measures the first visit of the playground beside a bare page of Next with one button, and the changes between pages whose
 * data is at hand: `node bench/pages/first-visit.ts [repetitions]`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { serveBareNext } from '../support/baselines/serve-next.ts'
import { type Bench, openStored, untilDrawn, waitUntilSettled, withBench } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const repetitions = Number(process.argv[2] ?? 7)
/** The longest change of a page that a user does not notice as waiting, in milliseconds. */
const VISIBLE_WAIT_MS = 100
const TOKENS = 2_000
/** Time from the press of a mouse button to the click. */
const PRESS_MS = 60
/** A row of the library. The list that was read before is drawn at once, and is read again after that. */
const LIBRARY_ROW = '[data-library] tbody a'

const bare = await serveBareNext()
try {
  await withBench(async (bench) => {
    await firstVisits(bench)
    await pageChanges(bench)
  })
} finally {
  await bare.close()
}

interface Visit {
  readonly painted: number
  readonly interactive: number
  readonly script: number
}

/** Visits both pages alternately, each time with an empty cache. */
async function firstVisits({ base, open }: Bench): Promise<void> {
  const visits = { application: [] as Visit[], bare: [] as Visit[] }
  for (let repetition = 0; repetition <= repetitions; repetition++)
    for (const [who, address] of [
      ['bare', bare.base],
      ['application', base],
    ] as const) {
      const page = await open('/', address)
      const visit = await measureVisit(page)
      // The first visits also load the pages on the servers.
      if (repetition > 0) visits[who].push(visit)
      await page.context().close()
    }
  const median = (who: keyof typeof visits, what: keyof Visit) =>
    percentile(
      visits[who].map((visit) => visit[what]),
      0.5,
    )
  for (const [what, name, unit] of [
    ['painted', 'first paint', 'ms'],
    ['interactive', 'interactive', 'ms'],
    ['script', 'script, as sent', 'kB'],
  ] as const) {
    reportFigure(`bare page: ${name}`, median('bare', what), unit)
    reportFigure(`playground: ${name}`, median('application', what), unit, what === 'script' ? 200 : undefined)
    reportFigure(`playground beside the bare page: ${name}`, median('application', what) / median('bare', what), '×')
  }
}

/** A page is interactive when React has hydrated its buttons and no long task follows. */
async function measureVisit(page: Page): Promise<Visit> {
  const hydrated = await page.evaluate(async () => {
    const isHydrated = (button: Element) => Object.keys(button).some((key) => key.startsWith('__reactProps$'))
    for (;;) {
      const buttons = [...document.querySelectorAll('button')]
      if (buttons.length > 0 && buttons.every(isHydrated)) return performance.now()
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
  })
  await waitUntilSettled(page)
  return page.evaluate((hydrated) => {
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
    const scripts = entries.filter(({ name }) => new URL(name).pathname.endsWith('.js'))
    return {
      painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      interactive: Math.max(hydrated, ...window.recorded.longTasks.map(({ start, duration }) => start + duration)),
      script: scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1000,
    }
  }, hydrated)
}

/** Goes around through the pages. Each link is hovered and pressed before its click, as with a mouse. */
async function pageChanges({ open }: Bench): Promise<void> {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-visit-'))
  const file = path.join(scratch, 'trajectory.json')
  writeFileSync(file, encode(largeTrajectory({ tokens: TOKENS })))
  const page = await open('/library')
  await openStored(page, file)
  rmSync(scratch, { recursive: true })
  const change = async (link: string, selector: string) => {
    const pressed = page.locator(link).first()
    await pressed.hover()
    await waitUntilSettled(page)
    await pressed.dispatchEvent('pointerdown', { button: 0 })
    await page.waitForTimeout(PRESS_MS)
    return untilDrawn(
      page,
      ({ link }) => document.querySelector<HTMLElement>(link)?.click(),
      ({ shown }) => document.querySelector(shown) !== null,
      { link, shown: selector },
    )
  }
  const times = new Map<string, number[]>()
  const measure = async (what: string, time: Promise<number>) =>
    times.set(what, [...(times.get(what) ?? []), await time])
  for (let repetition = 0; repetition < repetitions; repetition++) {
    await measure('trajectory → library', change('nav a[href="/library"]', LIBRARY_ROW))
    await measure('library → trajectory', change('tbody a', '.token-row'))
    await measure(
      'back to the library',
      untilDrawn(
        page,
        () => window.history.back(),
        (row) => document.querySelector(row) !== null,
        LIBRARY_ROW,
      ),
    )
    await measure('library → playground', change('header a[href="/"]', '[data-composer]'))
    await measure('playground → library', change('nav a[href="/library"]', LIBRARY_ROW))
    await measure('library → trajectory', change('tbody a', '.token-row'))
  }
  for (const [what, values] of times)
    reportFigure(`click → new page: ${what}`, percentile(values, 0.5), 'ms', VISIBLE_WAIT_MS)
  await page.context().close()
}
