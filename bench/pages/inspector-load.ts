/**
 * Measures what a person waits for when a long rollout is opened: `node bench/pages/inspector-load.ts [tokens] [format …]`. A file of every
 * format is opened, and those that Rollscope writes again from the library. All figures are compared with rows of a React list
 * (react-window) in the same run, which reads Rollscope's format. The written trajectory is generated: 27 % of its tokens are trained,
 * with 5 alternatives each. Formats without a writer have grown examples, which are opened once unless they are named. Servers write up to
 * 600 bytes for each token, so a grown file with more bytes than react-window's may take longer in proportion.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { writableFormats } from '#lib/formats/registry.ts'
import { strandsSglang } from '#lib/formats/strands-sglang.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { serveBaselines } from '../support/baselines/serve.ts'
import {
  type Bench,
  chooseFile,
  FIRST_TOKENS,
  firstPaint,
  longTasks,
  openStored,
  untilDrawn,
  waitUntilSettled,
  weigh,
  withBench,
} from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'
import { grownFile, readOnlyFormats } from '../support/grown-files.ts'

const tokens = Number(process.argv[2] ?? 200_000)
const named = process.argv.slice(3)
const ROUNDS = 3
/** Time after leaving the page until its memory must be free, in milliseconds. */
const RELEASED_MS = 5_000
const LIMITS = tokens > 200_000 ? { first: 4.5 } : { first: 1.5, interactive: 2, longest: 1.3, heap: 25, again: 0.9 }

const trajectory = largeTrajectory({ tokens })
const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-load-'))
const isMeasured = (name: string): boolean => named.length === 0 || named.includes(name)
const written = Object.entries({
  // A row of CSV has no tokens, so it would never be drawn.
  ...Object.fromEntries(
    writableFormats.flatMap(({ name, write }) => (name === 'csv' ? [] : [[name, write(trajectory).value]])),
  ),
  'strands-sglang, alternatives beside it': {
    ...strandsSglang.write?.(trajectory).value,
    top_logprobs: alternatives(trajectory),
  },
}).filter(([name]) => isMeasured(name))
const grown = readOnlyFormats.filter(isMeasured).map((name) => [name, grownFile(name, tokens)] as const)
const peerFile = fileOf('peer', writableFormats.find(({ name }) => name === 'rollscope')?.write(trajectory).value)
const baselines = await serveBaselines()

await withBench(async (bench) => {
  const peers: Opening[] = []
  const openings = new Map([...written, ...grown].map(([name]): [string, Opening[]] => [name, []]))
  const reopenings = new Map(written.map(([name]): [string, number[]] => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    peers.push(
      await opening(await bench.open('#rows', baselines.base), '.token', (page) =>
        page.getByLabel('Trajectory file').setInputFiles(peerFile),
      ),
    )
    for (const [name, value] of written) {
      const page = await bench.open()
      await waitUntilSettled(page)
      // Each round has a trajectory of its own, because an equal one is not stored twice.
      const file = fileOf(`${name} ${round}`, value)
      openings.get(name)?.push(await opening(page, FIRST_TOKENS, () => chooseFile(page, file), 'stays'))
      reopenings.get(name)?.push(await reopening(bench, page))
    }
    for (const [name, text] of round === 0 || named.length > 0 ? grown : []) {
      const page = await bench.open()
      await waitUntilSettled(page)
      const file = textFile(`${name} ${round}`, text)
      const found = await opening(page, FIRST_TOKENS, () => chooseFile(page, file)).catch(async (error: unknown) => {
        console.error(`${name} does not open: ${error}\n${await page.locator('body').textContent()}`)
        return undefined
      })
      if (found) openings.get(name)?.push(found)
      rmSync(file)
    }
  }
  const peer = medians(peers)
  report('react-window rows', peer, undefined)
  const grownBytes = new Map(grown.map(([name, text]) => [name, Buffer.byteLength(text)]))
  for (const [name, found] of openings) {
    const own = medians(found)
    report(name, own, peer, Math.max(1, (grownBytes.get(name) ?? 0) / statSync(peerFile).size))
    if (!reopenings.has(name)) continue
    const again = percentile(reopenings.get(name) ?? [], 0.5)
    reportFigure(`${name}: row of the library → first tokens painted`, again, 'ms')
    reportFigure(`${name}: the same beside react-window`, again / peer.first, '×', LIMITS.again)
  }
  await reportRest(bench)
})
await baselines.close()
rmSync(scratch, { recursive: true })

/** Reports the memory after the page was left, and how fast both simple views highlight a token. */
async function reportRest(bench: Bench): Promise<void> {
  const page = await bench.open()
  await openStored(page, peerFile)
  await page.getByRole('link', { name: 'Library', exact: true }).click()
  await page.locator('[data-library="idle"]').waitFor()
  await page.waitForTimeout(RELEASED_MS)
  const left = await weigh(page)
  reportFigure('after the page was left: heap and typed arrays', (left.heap + left.buffers) / 1e6, 'MB', 25)
  await page.context().close()
  for (const [who, hash] of [
    ['a React span per token', '#spans'],
    ['react-window rows', '#rows'],
  ] as const) {
    const baseline = await bench.open(hash, baselines.base)
    const painted = firstPaint(baseline, '.token')
    await baseline.getByLabel('Trajectory file').setInputFiles(peerFile)
    await painted
    await waitUntilSettled(baseline)
    reportFigure(`${who}: pointed at → highlighted`, await pointAtToken(baseline), 'ms')
    await baseline.context().close()
  }
}

/** Returns the milliseconds from the moment when the pointer reaches a token until its highlight is drawn. */
function pointAtToken(page: Page): Promise<number> {
  return untilDrawn(
    page,
    () => {
      const token = document.querySelectorAll('.token')[20]
      token?.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))
    },
    () => document.querySelector('.token.pointed') !== null,
    null,
  )
}

/** What a person notices of one opening: times in milliseconds, memory in megabytes. */
interface Opening {
  /** Until the first tokens are painted. */
  readonly first: number
  /** Until no task over 50 ms remains. */
  readonly interactive: number
  readonly longest: number
  readonly nodes: number
  readonly heap: number
  readonly buffers: number
}

/** Opens a file and measures it. `leaving` closes the page afterwards. */
async function opening(
  page: Page,
  selector: string,
  choose: (page: Page) => Promise<void>,
  leaving: 'closes' | 'stays' = 'closes',
): Promise<Opening> {
  const painted = firstPaint(page, selector)
  await choose(page)
  const first = await painted
  await waitUntilSettled(page)
  const { chosen, lastEnd } = await page.evaluate(() => ({
    chosen: window.recorded.chosen,
    lastEnd: Math.max(...window.recorded.longTasks.map(({ start, duration }) => start + duration)),
  }))
  const [longest = 0] = await longTasks(page, chosen)
  const { nodes, heap, buffers } = await weigh(page)
  if (leaving === 'closes') await page.context().close()
  return {
    first: first - chosen,
    interactive: Math.max(first, lastEnd) - chosen,
    longest,
    nodes,
    heap: heap / 1e6,
    buffers: buffers / 1e6,
  }
}

/** Returns the milliseconds from a click on the row of the library to its first tokens, after the page has released them. */
async function reopening(bench: Bench, page: Page): Promise<number> {
  await page.waitForURL(/\/t\//, { timeout: 120_000 })
  const { pathname } = new URL(page.url())
  await page.context().close()
  const again = await bench.open('/library')
  const link = again.locator(`a[href="${pathname}"]`).first()
  await link.waitFor()
  // The library starts the check of what is new, which also packs it.
  await again.waitForTimeout(RELEASED_MS)
  await waitUntilSettled(again)
  const painted = firstPaint(again, FIRST_TOKENS)
  // From the click itself: before it, Playwright waits until the link does not move.
  await link.click()
  const time = (await painted) - (await again.evaluate(() => window.recorded.clicked))
  await again.context().close()
  return time
}

/**
 * Reports an opening beside that of the peer; of the peer itself, only its times. `share` is the number of the file's bytes over
 * that of the peer's, at least 1.
 */
function report(name: string, own: Opening, peer: Opening | undefined, share = 1): void {
  const beside = (part: 'first' | 'interactive' | 'longest', what: string) => {
    reportFigure(`${name}: ${what}`, own[part], 'ms')
    const limit = LIMITS[part]
    const scaled = limit === undefined || part === 'longest' ? limit : limit * share
    if (peer) reportFigure(`${name}: ${what}, beside react-window`, own[part] / peer[part], '×', scaled)
  }
  beside('first', 'file chosen → first tokens painted')
  beside('interactive', 'file chosen → interactive')
  beside('longest', 'longest task')
  if (!peer) return
  reportFigure(`${name}: DOM nodes`, own.nodes, 'nodes', 5000)
  reportFigure(`${name}: heap`, own.heap, 'MB', LIMITS.heap)
  reportFigure(`${name}: typed arrays beside it`, own.buffers, 'MB')
}

function medians(all: readonly Opening[]): Opening {
  const median = (part: keyof Opening) =>
    percentile(
      all.map((one) => one[part]),
      0.5,
    )
  return {
    first: median('first'),
    interactive: median('interactive'),
    longest: median('longest'),
    nodes: median('nodes'),
    heap: median('heap'),
    buffers: median('buffers'),
  }
}

/** Writes a file of a written record. Rollscope's format has an id of its own. */
function fileOf(name: string, value: object | undefined): string {
  return textFile(name, JSON.stringify(value && 'id' in value ? { ...value, id: `large-${name}` } : value))
}

function textFile(name: string, text: string): string {
  const file = path.join(scratch, `${name.replace(/\W+/g, '-')}.json`)
  writeFileSync(file, text)
  return file
}

/** Returns the alternatives of each token as SGLang writes them, which a program may store beside a rollout. */
function alternatives({ segments }: Trajectory): readonly unknown[] {
  return segments.flatMap(({ ids, topLogprobs: top }) =>
    Array.from(ids, (_, index) =>
      top
        ? Array.from({ length: top.k }, (_, place) => [
            top.logprobs[index * top.k + place],
            top.ids[index * top.k + place],
            null,
          ])
        : null,
    ),
  )
}
