/**
 * Follows a run in the playground that writes 200 tokens per second, each with five alternatives, into a trajectory of
 * 100,000 tokens. Figures are frames, and the work of the page's thread for a token compared with that of a run into 1,000
 * tokens.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { type Bench, frames, withBench } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const TOKENS_A_SECOND = 200
const FRAMES = 600
const SMALL = 1_000
const LARGE = 100_000
const ROUNDS = 3

await withBench(async (bench) => {
  const rounds: { readonly small: Followed; readonly large: Followed }[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ small: await followRun(bench, SMALL), large: await followRun(bench, LARGE) })
  const times = rounds.flatMap(({ large }) => large.times)
  reportFigure('frame, p95', percentile(times, 0.95), 'ms', 17)
  reportFigure('frame, p99', percentile(times, 0.99), 'ms')
  const work = (part: 'small' | 'large') =>
    percentile(
      rounds.map((round) => round[part].workMs),
      0.5,
    )
  reportFigure(`work a token, into ${SMALL}`, work('small'), 'ms')
  reportFigure(`work a token, into ${LARGE}`, work('large'), 'ms')
  reportFigure('work a token, ratio', work('large') / work('small'), '×', 1.5)
})

interface Followed {
  /** Durations of frames in milliseconds. */
  readonly times: readonly number[]
  /** Milliseconds of the page's thread for each token: scripts, style, layout and paint. */
  readonly workMs: number
}

async function followRun(bench: Bench, tokens: number): Promise<Followed> {
  const trajectory: Trajectory = {
    ...largeTrajectory({ tokens }),
    outcome: { kind: 'running', rolloutId: 'live' },
  }
  const run = await startRun(trajectory)
  const page = await bench.open('/servers')
  await page.route('**/api/trajectories/live', (route) => route.fulfill({ json: trajectory }))
  await page.route('**/api/rollouts/live/events*', (route) => route.continue({ url: run.address }))
  await page.goto(`${bench.base}/?t=live`)
  const before = tokenCount(trajectory)
  const shownTokens = async () => Number(await page.locator('[data-tokens]').getAttribute('data-tokens'))
  while ((await shownTokens()) < before + TOKENS_A_SECOND) await page.waitForTimeout(100)
  const work = await workOf(page)
  const [startMs, startTokens] = [await work(), await shownTokens()]
  const times = await frames(page, FRAMES, () => {}, 0)
  const [endMs, endTokens] = [await work(), await shownTokens()]
  await page.context().close()
  run.close()
  return { times, workMs: (endMs - startMs) / (endTokens - startTokens) }
}

/** Returns a function that returns the total working time of the page's thread in milliseconds. */
async function workOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
  }
}

/** Starts a server that streams the events of a run that never ends. */
async function startRun(trajectory: Trajectory) {
  const source = trajectory.segments.find((segment) => segment.kind === 'response') as ResponseSegment
  const server = createServer((_request, response) => {
    const tell = (event: RolloutEvent) => response.write(`${JSON.stringify(event)}\n`)
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store, no-transform' })
    tell({ type: 'started', rolloutId: 'live', trajectory })
    tell({
      type: 'segment-started',
      segment: { kind: 'response', ids: [], thinks: [], toolCalls: [] },
      vocab: {},
      specialIds: [],
    })
    tellTokens(source, tell, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function tellTokens(source: ResponseSegment, tell: (event: RolloutEvent) => void, response: ServerResponse): void {
  const start = performance.now()
  const k = source.topLogprobs?.k ?? 0
  let sentTokens = 0
  const timer = setInterval(() => {
    for (; sentTokens < ((performance.now() - start) * TOKENS_A_SECOND) / 1000; sentTokens++) {
      const at = sentTokens % source.ids.length
      tell({
        type: 'tokens',
        ids: source.ids.slice(at, at + 1),
        logprobs: source.logprobs?.slice(at, at + 1) ?? [null],
        ...(source.topLogprobs && {
          topLogprobs: {
            k,
            ids: source.topLogprobs.ids.slice(at * k, (at + 1) * k),
            logprobs: source.topLogprobs.logprobs.slice(at * k, (at + 1) * k),
          },
        }),
        vocab: {},
        specialIds: [],
      })
    }
  }, 1000 / TOKENS_A_SECOND)
  response.on('close', () => clearInterval(timer))
}
