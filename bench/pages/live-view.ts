/**
 * Measures the time from the sending of a token by the server to its pixel: eight samples of one prompt at once, 50 tokens
 * per second with five alternatives each, one of them shown. The server records the times of its chunks, the page those of
 * its drawings; both use the clock of this machine. Last come the frames of a page that shows 64 running samples.
 */

import { TOKEN } from '../../e2e/support/application.ts'
import { type Bench, withBench } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'
import { type LoadRequest, startScriptedSglang } from '../support/load/scripted-sglang.ts'

const SAMPLES = 8
const TOKENS_A_SECOND = 50
const TOKENS = 400
const ROUNDS = 5
const LIMIT_MS = 100
/** The most samples of a group, their tokens and tokens per second, and the milliseconds of a frame at 60 frames per second. */
const MOST = { samples: 64, tokens: 150, tokensASecond: 10 }
const FRAME_MS = 17

await withBench(async (bench) => {
  const rounds: Delays[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await delaysOf(bench))
  const p95 = (part: keyof Delays) =>
    percentile(
      rounds.map((delays) => percentile(delays[part], 0.95)),
      0.5,
    )
  reportFigure('a token to its pixel, p95', p95('tokens'), 'ms', LIMIT_MS)
  reportFigure(
    'a token to its pixel, median',
    percentile(
      rounds.flatMap(({ tokens }) => tokens),
      0.5,
    ),
    'ms',
  )
  reportFigure('a token to the counters of its sample, p95', p95('counters'), 'ms', LIMIT_MS)
  const frames = await framesOf(bench)
  reportFigure('64 running samples: frame, median', percentile(frames, 0.5), 'ms', FRAME_MS)
  reportFigure('64 running samples: frame, p95', percentile(frames, 0.95), 'ms')
})

/** Delays of each chunk in milliseconds. */
interface Delays {
  /** Delays until the tokens of the shown sample are drawn. */
  readonly tokens: readonly number[]
  /** Delays until the counters of all samples are drawn, in the strip. */
  readonly counters: readonly number[]
}

interface GroupOptions {
  readonly samples: number
  readonly tokens: number
  readonly tokensASecond: number
  readonly onChunk?: (seed: number, tokens: number, at: number) => void
}

/** Starts a group, whose replies wait for `release` so that the page is open before the first token. */
async function startGroup(bench: Bench, { samples: count, tokens, tokensASecond, onChunk }: GroupOptions) {
  const released = Promise.withResolvers<void>()
  const server = await startScriptedSglang(async (request) => {
    if (request.stream) await released.promise
    return replyTo(request, tokensASecond)
  })
  if (onChunk) server.onChunk = onChunk
  const call = async (path: string, method: string, json: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-rollscope': '1', 'content-type': 'application/json' }
    const response = await fetch(new URL(path, bench.base), { method, headers, body: JSON.stringify(json) })
    return response.status === 204 ? undefined : response.json()
  }
  await call('/api/servers/stamping', 'DELETE', {})
  await call('/api/servers', 'POST', { name: 'stamping', baseUrl: server.baseUrl })
  const { groupId, samples } = await call('/api/groups', 'POST', {
    prompt: 'What is 25 * 17, and then plus 9?',
    server: 'stamping',
    samples: count,
    // The seed distinguishes the samples: each gets the next one.
    sampling: { max_new_tokens: tokens, sampling_seed: 0 },
  })
  const page = await bench.open(`/?${new URLSearchParams({ t: samples[0].trajectoryId, group: groupId })}`)
  await page.locator(`[data-sample="${count - 1}"]`).waitFor()
  await page.locator('[data-tokens]').waitFor()
  const end = async () => {
    await page.context().close()
    await server.close()
  }
  return { page, samples, release: released.resolve, end }
}

/** Returns the milliseconds between the frames of a page that shows 64 running samples, while they run. */
async function framesOf(bench: Bench): Promise<readonly number[]> {
  const { page, release, end } = await startGroup(bench, MOST)
  const frames = page.evaluate(async () => {
    const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
    const states = () =>
      [...document.querySelectorAll<HTMLElement>('[data-sample]')].map(({ dataset }) => dataset.state)
    const times: number[] = []
    for (let last = await nextFrame(); states().some((state) => state !== 'ended'); ) {
      const time = await nextFrame()
      times.push(time - last)
      last = time
    }
    return times
  })
  release()
  const times = await frames
  await end()
  return times
}

async function delaysOf(bench: Bench): Promise<Delays> {
  /** The chunks with their sampling_seed, the tokens up to them and the time when they were sent. */
  const sent: { readonly seed: number; readonly tokens: number; readonly at: number }[] = []
  const { page, samples, release, end } = await startGroup(bench, {
    samples: SAMPLES,
    tokens: TOKENS,
    tokensASecond: TOKENS_A_SECOND,
    onChunk: (seed, tokens, at) => sent.push({ seed, tokens, at }),
  })
  const drawn = page.evaluate(watch)
  release()
  const seen = await drawn
  await end()
  const delays = (place: number, of: typeof sent) =>
    of.map(({ tokens, at }) => (seen[place]?.find((state) => state.tokens >= tokens)?.at ?? Number.NaN) - at)
  return {
    tokens: delays(
      SAMPLES,
      sent.filter(({ seed }) => seed === 0),
    ),
    counters: samples.flatMap((_: unknown, sample: number) =>
      delays(
        sample,
        sent.filter(({ seed }) => seed === sample),
      ),
    ),
  }
}

/** Returns letters at a fixed rate. Every byte-level vocabulary has them with the same ids. */
function replyTo(
  { sampling_params: { max_new_tokens: length = 0, stream_interval: tokensPerChunk = 1 } }: LoadRequest,
  tokensASecond: number,
) {
  const ids = Array.from({ length }, (_, index) => 65 + (index % 26))
  const msPerChunk = (1000 * tokensPerChunk) / tokensASecond
  return { ids, finish: { type: 'length', length } as const, tokensPerChunk, msPerChunk }
}

interface Drawn {
  readonly tokens: number
  /** Milliseconds since the epoch at which the frame with that many tokens had been drawn. */
  readonly at: number
}

/**
 * Runs in the page until all samples have ended. Returns the drawings of each sample's counter, and last those of the rows of
 * tokens.
 */
async function watch(): Promise<readonly (readonly Drawn[])[]> {
  const seen: Drawn[][] = []
  const note = (place: number, tokens: number, at: number) => {
    seen[place] ??= []
    const list = seen[place]
    if (tokens > (list.at(-1)?.tokens ?? 0)) list.push({ tokens, at })
  }
  const look = () => {
    const at = Date.now()
    const chips = [...document.querySelectorAll<HTMLElement>('[data-sample]')]
    for (const chip of chips) {
      const [, count = '0'] = /([\d,]+) tok/.exec(chip.textContent) ?? []
      note(Number(chip.dataset.sample), Number(count.replaceAll(',', '')), at)
    }
    const rows = [...document.querySelectorAll<HTMLElement>('.token-row:not([hidden])')]
    note(chips.length, Math.max(0, ...rows.map(({ dataset }) => Number(dataset.first) + Number(dataset.count))), at)
    return chips.some(({ dataset }) => dataset.state !== 'ended')
  }
  for (;;) {
    // In a task after the frame, its style, layout and paint are done.
    await new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
    if (!look()) return seen
  }
}
