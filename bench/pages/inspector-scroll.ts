/**
 * Measures movement in the token view of a long trajectory: `node bench/pages/inspector-scroll.ts [tokens]`. Figures are frames
 * during scrolling, compared with two baselines; the costs of pointing, colours and the window's width; and the layout alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { createLayoutMaker, UNFOLDED } from '#components/token-view/grid/layout.ts'
import { createPieceTable } from '#components/token-view/pieces/piece-table.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { serveBaselines } from '../support/baselines/serve.ts'
import {
  frames,
  longTasks,
  now,
  openStored,
  untilDrawn,
  waitUntilSettled,
  weigh,
  withBench,
} from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const tokens = Number(process.argv[2] ?? 200_000)
const FRAMES = 300
/** Fewer frames than in the inspector, because a span per token needs a second for some frames. */
const BASELINE_FRAMES = 60
const TIMES = 15
/** Milliseconds of one frame and of two frames at 60 frames per second. */
const FRAME = 17
const TWO_FRAMES = 34

const trajectory = largeTrajectory({ tokens })
layoutAlone()
const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-scroll-'))
const file = path.join(scratch, 'large.json')
writeFileSync(file, encode(trajectory))
const baselines = await serveBaselines()
await withBench(async ({ open }) => {
  const page = await open()
  await waitUntilSettled(page)
  await openStored(page, file)

  const before = await now(page)
  const rowHeight = await page.evaluate(() => document.querySelector('.token-row')?.clientHeight ?? 0)
  await scrollPage(page, '', { selector: '.token-viewport', rowHeight, count: FRAMES, isLimited: true })
  reportFigure('long tasks while scrolling', (await longTasks(page, before)).length, '')

  // The last jump may have led to a place with few tokens.
  await page.evaluate(() => {
    const view = document.querySelector('.token-viewport')
    if (view) view.scrollTop = 0
  })
  await waitUntilSettled(page)
  const hovers: number[] = []
  for (let time = 0; time < TIMES; time++)
    hovers.push(
      await untilDrawn(
        page,
        (time) => {
          const box = document.querySelector<HTMLElement>('.token-pointed > div')
          document.body.dataset.before = box?.dataset.index ?? ''
          const view = document.querySelector('.token-viewport')?.getBoundingClientRect()
          const rows = [...document.querySelectorAll('.token-row:not([hidden], [data-count="0"])')]
            .map((row) => ({ row, box: row.getBoundingClientRect() }))
            .filter(({ box }) => view && box.top >= view.top && box.bottom <= view.bottom)
            .sort((a, b) => a.box.top - b.box.top)
          // The pointer is on the first token of another row each time.
          const target = rows[time]
          if (!target) throw new Error(`only ${rows.length} rows with tokens are visible`)
          const { left, top, height } = target.box
          target.row.dispatchEvent(
            new PointerEvent('pointermove', { bubbles: true, clientX: left + 2, clientY: top + height / 2 }),
          )
        },
        () => {
          const box = document.querySelector<HTMLElement>('.token-pointed:not([hidden]) > div')
          return box !== null && box.dataset.index !== document.body.dataset.before
        },
        time,
      ),
    )
  reportFigure('hover → highlight, p95', percentile(hovers, 0.95), 'ms', 50)

  const colours: number[] = []
  for (let time = 0; time < TIMES; time++)
    colours.push(
      await untilDrawn(
        page,
        (name) => {
          for (const button of document.querySelectorAll('button')) if (button.textContent === name) button.click()
        },
        (name) =>
          [...document.querySelectorAll('button')].some(
            (button) => button.textContent === name && button.ariaPressed === 'true',
          ),
        time % 2 === 0 ? 'Mask' : 'Logprob',
      ),
    )
  reportFigure('colour switch, p95', percentile(colours, 0.95), 'ms', 50)

  const resizes: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const width = 60 + 40 * (time % 3)
    resizes.push(
      await untilDrawn(
        page,
        (inset) => {
          const view = document.querySelector<HTMLElement>('.token-viewport')
          document.body.dataset.before = view?.ariaRowCount ?? ''
          if (view) view.style.width = `calc(100% - ${inset}px)`
        },
        () => document.querySelector('.token-viewport')?.ariaRowCount !== document.body.dataset.before,
        width,
      ),
    )
  }
  reportFigure('another width, p95', percentile(resizes, 0.95), 'ms', 100)
  reportFigure('nodes', (await weigh(page)).nodes, 'nodes', 5000)
  await page.context().close()

  for (const [who, hash, selector] of [
    ['a React span per token: ', '#spans', '#root'],
    ['react-window rows: ', '#rows', '#root > *'],
  ] as const) {
    const baseline = await open(hash, baselines.base)
    await baseline.getByLabel('Trajectory file').setInputFiles(file)
    await baseline.locator('.token').first().waitFor({ timeout: 120_000 })
    await waitUntilSettled(baseline)
    await scrollPage(baseline, who, { selector, rowHeight: 20, count: BASELINE_FRAMES, isLimited: false })
    await baseline.context().close()
  }
})
await baselines.close()
rmSync(scratch, { recursive: true })

interface Scrolled {
  /** Selector of the scrolled element. */
  readonly selector: string
  /** Height of a row in pixels. */
  readonly rowHeight: number
  readonly count: number
  readonly isLimited: boolean
}

async function scrollPage(page: Page, who: string, { selector, rowHeight, count, isLimited }: Scrolled): Promise<void> {
  const lines = await frames(
    page,
    count,
    (_, { selector, step }) => {
      const view = document.querySelector(selector)
      if (!view || view.scrollHeight <= view.clientHeight) throw new Error(`${selector} cannot be scrolled`)
      view.scrollTop += step
    },
    { selector, step: 20 * rowHeight },
  )
  const jumps = await frames(
    page,
    count,
    (frame, { selector }) => {
      const view = document.querySelector(selector)
      // This sequence has no pattern and is the same in every run.
      if (view) view.scrollTop = (((frame + 1) * 0.618_033_988_75) % 1) * view.scrollHeight
    },
    { selector },
  )
  for (const [what, times] of [
    ['20 lines a frame', lines],
    ['random jumps', jumps],
  ] as const) {
    reportFigure(`${who}${what}: frame, p95`, percentile(times, 0.95), 'ms', isLimited ? FRAME : undefined)
    reportFigure(`${who}${what}: frame, p99`, percentile(times, 0.99), 'ms', isLimited ? TWO_FRAMES : undefined)
  }
}

/** Measures in this process the layout for another width of the window, compared with one pass over the ids. */
function layoutAlone(): void {
  const { segments, vocab } = pack(trajectory).trajectory
  const make = createLayoutMaker(createPieceTable((text) => 1.3 * text.length))
  const timesOf = (run: (time: number) => void): readonly number[] =>
    Array.from({ length: 2 * TIMES }, (_, time) => {
      const start = performance.now()
      run(time)
      return performance.now() - start
    })
  const layouts = timesOf((time) => make(segments, vocab, { ...UNFOLDED, columns: 80 + time }))
  let sum = 0
  const passes = timesOf(() => {
    for (const { ids } of segments) for (let index = 0; index < ids.length; index++) sum += ids[index] as number
  })
  reportFigure('layout, the first', layouts[0] ?? Number.NaN, 'ms')
  reportFigure('layout at another width, p95', percentile(layouts.slice(1), 0.95), 'ms', tokens > 200_000 ? 50 : 10)
  reportFigure('layout ÷ one pass over the ids', percentile(layouts, 0.5) / percentile(passes, 0.5), '×')
  if (sum < 0) throw new Error('ids are no negative numbers')
}
