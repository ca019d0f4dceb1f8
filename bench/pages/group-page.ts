/**
 * Measures the page of a large group: `node bench/pages/group-page.ts [samples] [tokens]`. It opens a group of 64 samples with 20,000
 * tokens each, compared with one trajectory of 200,000 tokens in the same run, and scrolls its tree. All samples share their first fifth.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { CHANGING } from '../../e2e/support/application.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { frames, longTasks, now, untilDrawn, waitUntilSettled, weigh, withBench } from '../support/browser.ts'
import { median, percentile, reportFigure } from '../support/figures.ts'

const samples = Number(process.argv[2] ?? 64)
const tokens = Number(process.argv[3] ?? 20_000)
const ROUNDS = 3
const FRAMES = 300
/** Milliseconds of one frame and of two frames at 60 frames per second. */
const FRAME = 17
const TWO_FRAMES = 34
/** Time after storing in which the server checks and packs what is new, in milliseconds. */
const CHECKED_MS = 20_000
const GROUP = 'bench'

/** Returns sample `index`: its first fifth is that of all samples, and its rest that of its own seed. */
function sampleOf(shared: Trajectory, index: number): Trajectory {
  const own = largeTrajectory({ tokens, seed: 100 + index })
  const segments: Segment[] = []
  let count = 0
  for (const segment of shared.segments) {
    if (count >= tokens / 5) break
    segments.push(segment)
    count += segment.ids.length
  }
  for (const segment of own.segments.slice(segments.length)) {
    if (count >= tokens) break
    segments.push(segment)
    count += segment.ids.length
  }
  return {
    ...own,
    id: `${GROUP}-${index}`,
    vocab: { ...shared.vocab, ...own.vocab },
    segments,
    group: { id: GROUP, index },
    reward: (index % 8) / 7,
    provenance: { kind: 'rollout', application: 'generated' },
  }
}

const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-group-'))
const large = path.join(scratch, 'large.json')
writeFileSync(large, encode(largeTrajectory({ tokens: 200_000 })))

// All files are made before the application runs: it closes connections that wait too long.
const shared = largeTrajectory({ tokens, seed: 99 })
const files = Array.from({ length: samples }, (_, index) => {
  const file = path.join(scratch, `${index}.json`)
  writeFileSync(file, encode(sampleOf(shared, index)))
  return file
})

await withBench(async ({ base, open }) => {
  const store = async (bytes: Uint8Array | string): Promise<string> => {
    const headers = { ...CHANGING, 'content-type': 'application/octet-stream' }
    const response = await fetch(`${base}/api/import`, { method: 'POST', headers, body: bytes as BodyInit })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()).trajectories[0]
  }
  const largeKey = await store(readFileSync(large))
  for (const file of files) await store(readFileSync(file))
  await new Promise((resolve) => setTimeout(resolve, CHECKED_MS))

  const [single, group]: [number[], number[]] = [[], []]
  let last: Page | undefined
  for (let round = 0; round < ROUNDS; round++) {
    single.push(await opening(await open('/library'), `/t/${encodeURIComponent(largeKey)}`))
    await last?.context().close()
    last = await open('/library')
    group.push(await opening(last, `/group/${GROUP}`, false))
  }
  reportFigure('one trajectory of 200,000 tokens: address → first tokens painted', median(single), 'ms')
  reportFigure(`group of ${samples} × ${tokens} tokens: address → first tokens painted`, median(group), 'ms')
  reportFigure('group ÷ one trajectory', median(group) / median(single), '×', 2)
  if (!last) throw new Error('the group was opened')
  await waitUntilSettled(last)
  const before = await now(last)
  for (const [what, move] of [
    ['4 lines a frame', 4],
    ['20 lines a frame', 20],
  ] as const) {
    const times = await frames(
      last,
      FRAMES,
      (_, step) => {
        const view = document.querySelector('.token-viewport')
        if (!view || view.scrollHeight <= view.clientHeight) throw new Error('the tree cannot be scrolled')
        view.scrollTop = view.scrollTop + step > view.scrollHeight - view.clientHeight ? 0 : view.scrollTop + step
      },
      24 * move,
    )
    reportFigure(`${what}: frame, p95`, percentile(times, 0.95), 'ms', FRAME)
    reportFigure(`${what}: frame, p99`, percentile(times, 0.99), 'ms', TWO_FRAMES)
  }
  reportFigure('long tasks while scrolling', (await longTasks(last, before)).length, '')
  const { nodes, heap, buffers } = await weigh(last)
  reportFigure('nodes', nodes, 'nodes', 5000)
  reportFigure('heap and typed arrays', (heap + buffers) / 1e6, 'MB')
})
rmSync(scratch, { recursive: true })

/** Returns the milliseconds from a navigation within the application to the first painted tokens. */
async function opening(page: Page, address: string, closes = true): Promise<number> {
  await page.locator('[data-library="idle"]').waitFor()
  await waitUntilSettled(page)
  const time = await untilDrawn(
    page,
    (address) => {
      const link = document.createElement('a')
      link.href = address
      document.body.append(link)
      link.click()
    },
    () => document.querySelector('.token-row') !== null,
    address,
  )
  if (closes) await page.context().close()
  return time
}
