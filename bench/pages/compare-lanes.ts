/**
 * Measures the lanes of the compare page: `node bench/pages/compare-lanes.ts [tokens]`. Figures are the time from the arrival of
 * the comparison until tokens are drawn, frames during scrolling, and nodes: with 500 drifts, and with one drift for every
 * other token. Times and frames are compared with those of a React list (react-window) of one side in the same run.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { serveBaselines } from '../support/baselines/serve.ts'
import {
  type Bench,
  firstPaint,
  frames,
  openStored,
  untilDrawn,
  waitUntilSettled,
  weigh,
  withBench,
} from '../support/browser.ts'
import { median, percentile, reportFigure } from '../support/figures.ts'

const tokens = Number(process.argv[2] ?? 200_000)
const FRAMES = 300
const TIMES = 10
/** Openings of each page: the figure is their median. */
const OPENINGS = 3
/** Milliseconds of one frame at 60 frames per second. */
const FRAME = 17
/** The lanes show two sides, and react-window one: a frame may take as many times as long. */
const SIDES = 2

const left = largeTrajectory({ tokens, alternatives: 0 })
const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-lanes-'))
const baselines = await serveBaselines()
await withBench(async (bench) => {
  const peer = await measurePeer(bench)
  const page = await bench.open()
  await waitUntilSettled(page)
  await storeTrajectory(page, left)
  for (const [what, right] of [
    ['500 drifts', resplit(left, Math.round(tokens / 500))],
    ['a drift every other token', resplit(left, 2)],
  ] as const) {
    await storeTrajectory(page, right)
    await measurePage(bench, what, `/compare?left=${left.id}&right=${right.id}`, peer)
  }
})
await baselines.close()
rmSync(scratch, { recursive: true })

interface Peer extends Movement {
  /** From the choice of the file of one side until its first tokens are painted, in milliseconds. */
  readonly first: number
}

interface Movement {
  /** 95th percentiles of the frames, in milliseconds. */
  readonly lines: number
  readonly jumps: number
}

/** Measures the rows of react-window with the left side. */
async function measurePeer(bench: Bench): Promise<Peer> {
  const { page, time } = await repeatedly(async () => {
    const page = await bench.open('#rows', baselines.base)
    const painted = firstPaint(page, '.token')
    await page.getByLabel('Trajectory file').setInputFiles(fileOf(left))
    return { page, time: (await painted) - (await page.evaluate(() => window.recorded.chosen)) }
  })
  const { lines, jumps } = await scroll(page, '#root > *', 20 * 20)
  reportFigure('react-window rows: file chosen → first tokens painted', time, 'ms')
  reportFigure('react-window rows: 20 lines a frame, p95', lines, 'ms')
  reportFigure('react-window rows: random jumps, p95', jumps, 'ms')
  await page.context().close()
  return { first: time, lines, jumps }
}

interface Opening {
  readonly page: Page
  /** Milliseconds until its tokens were drawn. */
  readonly time: number
}

/** Opens a page several times and closes all but the last. Returns that one, settled, with the median time. */
async function repeatedly(open: () => Promise<Opening>): Promise<Opening> {
  const times: number[] = []
  for (;;) {
    const { page, time } = await open()
    await waitUntilSettled(page)
    times.push(time)
    if (times.length === OPENINGS) return { page, time: median(times) }
    await page.context().close()
  }
}

async function scroll(page: Page, selector: string, step: number): Promise<Movement> {
  const lines = await frames(
    page,
    FRAMES,
    (_, { selector, step }) => {
      const view = document.querySelector(selector)
      if (!view || view.scrollHeight <= view.clientHeight) throw new Error(`${selector} cannot be scrolled`)
      view.scrollTop += step
    },
    { selector, step },
  )
  const jumps = await frames(
    page,
    FRAMES,
    (frame, selector) => {
      const view = document.querySelector(selector)
      // This sequence has no pattern and is the same in every run.
      if (view) view.scrollTop = (((frame + 1) * 0.618_033_988_75) % 1) * view.scrollHeight
    },
    selector,
  )
  return { lines: percentile(lines, 0.95), jumps: percentile(jumps, 0.95) }
}

function fileOf(trajectory: Trajectory): string {
  const file = path.join(scratch, `${trajectory.id}.json`)
  writeFileSync(file, encode(trajectory))
  return file
}

async function storeTrajectory(page: Page, trajectory: Trajectory): Promise<void> {
  const file = fileOf(trajectory)
  await page.goto(new URL('/library', page.url()).href)
  await openStored(page, file)
}

async function measurePage(bench: Bench, what: string, address: string, peer: Peer): Promise<void> {
  const { page, time } = await repeatedly(async () => {
    const page = await bench.open('/library')
    await page.addInitScript(recordArrival)
    await page.goto(new URL(address, bench.base).href)
    await page.waitForFunction(() => window.arrival.drawn > 0, undefined, { timeout: 120_000 })
    const { received, drawn } = await page.evaluate(() => window.arrival)
    return { page, time: drawn - received }
  })
  reportFigure(`${what}: comparison → tokens drawn`, time, 'ms')
  reportFigure(`${what}: comparison → tokens drawn, beside react-window with one side`, time / peer.first, '×', 1)

  const toggles: number[] = []
  for (let time = 0; time < TIMES; time++)
    toggles.push(
      await untilDrawn(
        page,
        () => {
          const grid = document.querySelector<HTMLElement>('.token-viewport')
          document.body.dataset.before = grid?.ariaRowCount ?? ''
          for (const button of document.querySelectorAll('button'))
            if (button.textContent === 'Only differences') button.click()
        },
        () => document.querySelector('.token-viewport')?.ariaRowCount !== document.body.dataset.before,
        undefined,
      ),
    )
  reportFigure(`${what}: only differences, p95`, percentile(toggles, 0.95), 'ms')

  await page.getByRole('grid', { name: 'Tokens of both sides' }).focus()
  await page.keyboard.press('Z')
  await waitUntilSettled(page)
  const { lines, jumps } = await scroll(page, '.token-viewport', 20 * 24)
  reportFigure(`${what}: 20 lines a frame, p95`, lines, 'ms', Math.max(FRAME, SIDES * peer.lines))
  reportFigure(`${what}: random jumps, p95`, jumps, 'ms', Math.max(FRAME, SIDES * peer.jumps))
  const grid = await page.evaluate(() => document.querySelector('.lanes')?.querySelectorAll('*').length ?? 0)
  reportFigure(`${what}: nodes of the lanes`, grid, 'nodes', 3000)
  reportFigure(`${what}: nodes of the page`, (await weigh(page)).nodes, 'nodes')
  await page.context().close()
}

declare global {
  interface Window {
    /** The page's time of the worker's last message, and of the first rows after it, in milliseconds. */
    arrival: { received: number; drawn: number }
  }
}

/** Runs in the page before its own scripts. */
function recordArrival(): void {
  const arrival = { received: 0, drawn: 0 }
  window.arrival = arrival
  window.Worker = class extends Worker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      super(...parameters)
      this.addEventListener('message', () => {
        if (arrival.drawn === 0) arrival.received = performance.now()
      })
    }
  }
  const look = () => {
    if (document.querySelector('.lanes .token-row'))
      setTimeout(() => {
        arrival.drawn = performance.now()
      })
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

/** Returns the same text with every n-th token split in two, as by another tokenizer. */
function resplit(from: Trajectory, every: number): Trajectory {
  const vocab: Record<string, VocabEntry> = { ...from.vocab }
  const halves = new Map<number, readonly [number, number]>()
  let next = 1 + Math.max(...Object.keys(vocab).map(Number))
  const halvesOf = (id: number): readonly [number, number] | undefined => {
    const entry = vocab[id]
    if (typeof entry !== 'string' || !/^[\x20-\x7e]{2,}$/.test(entry)) return undefined
    const known = halves.get(id)
    if (known) return known
    vocab[next] = entry.slice(0, 1)
    vocab[next + 1] = entry.slice(1)
    const pair = [next, next + 1] as const
    next += 2
    halves.set(id, pair)
    return pair
  }
  let index = 0
  return {
    ...from,
    id: `${from.id}-every-${every}`,
    vocab,
    segments: from.segments.map(({ ids }) => ({
      kind: 'prompt',
      ids: ids.flatMap((id) => (index++ % every === every - 1 ? (halvesOf(id) ?? [id]) : [id])),
      messages: [],
    })),
  }
}
