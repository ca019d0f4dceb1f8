/**
 * Measures the list of a large file: 40,000 samples in 2 GB of JSON lines, opened in Chromium on the built application. Python reads
 * the same lines with `json` in the same run, so the ratio does not depend on the machine. Run it with `node bench/large-file.ts`;
 * `node bench/large-file.ts 4000` writes a tenth of the file. The file is deleted afterwards.
 *
 * The samples are copies of two examples, which are real rollouts, with other ids and rewards.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { finished } from 'node:stream/promises'
import type { Page } from '@playwright/test'
import { elementAt } from '#lib/util/element-at.ts'
import { chooseFile, longTasks, withBench } from './browser.ts'
import { reportFigure } from './figures.ts'

const SAMPLES = Number(process.argv[2] ?? 40_000)
/** Trajectories of 51 kB on average, with alternatives of each token. */
const EXAMPLES = ['retokenization-drift', 'tool-error']
/** Limits of the issue: milliseconds to the first rows, and megabytes of the page's process. */
const [MOST_FIRST_MS, MOST_MB] = [3_000, 400]

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-large-file-'))
const file = path.join(folder, 'samples.jsonl')
try {
  await writeSamples()
  const size = statSync(file).size
  console.log(`${SAMPLES} samples, ${(size / 1e9).toFixed(2)} GB`)
  const pythonSeconds = readWithPython()
  reportFigure('Python json, MB/s', size / 1e6 / pythonSeconds, '')
  await withBench(async ({ browser, open }) => {
    const page = await open('/library')
    const session = await browser.newBrowserCDPSession()
    const { processInfo } = await session.send('SystemInfo.getProcessInfo')
    const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
    const before = residentMegabytes(renderers)
    let peak = before
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentMegabytes(renderers))
    }, 100)
    await chooseFile(page, file)
    await page.getByRole('table', { name: 'Samples of the file' }).getByRole('link').first().waitFor()
    const firstMs = await sinceChosen(page)
    await page.locator('[data-index="finished"]').waitFor({ timeout: 3_600_000 })
    const seconds = (await sinceChosen(page)) / 1000
    clearInterval(sampling)
    const rows = await page.locator('[data-samples]').getAttribute('data-samples')
    if (Number(rows) !== SAMPLES) throw new Error(`the list has ${rows} samples of ${SAMPLES}`)
    const [longest = 0] = await longTasks(page)
    reportFigure('first rows', firstMs, 'ms', MOST_FIRST_MS)
    reportFigure('index, MB/s', size / 1e6 / seconds, '')
    reportFigure('index over Python json, time', seconds / pythonSeconds, '×')
    reportFigure('page before the file', before, 'MB')
    reportFigure('page at its peak', peak, 'MB', MOST_MB)
    reportFigure('longest task of the page while it indexes', longest, 'ms')
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Writes copies of the examples, in turn, each with an id and a reward of its own. */
async function writeSamples(): Promise<void> {
  const tails = EXAMPLES.map((name) => {
    const { id: _, reward: __, ...rest } = JSON.parse(readFileSync(`public/examples/${name}.json`, 'utf8'))
    return JSON.stringify(rest).slice(1)
  })
  const stream = createWriteStream(file)
  for (let index = 0; index < SAMPLES; index++) {
    const line = `{"id":"sample-${index}","reward":${(index % 100) / 100},${elementAt(tails, index % tails.length)}\n`
    if (!stream.write(line)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
}

/** Returns the seconds in which Python parses every line. */
function readWithPython(): number {
  const script = `import json, sys, time
start = time.perf_counter()
for line in open(sys.argv[1], 'rb'):
    json.loads(line)
print(time.perf_counter() - start)`
  return Number(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }))
}

/** Returns the resident memory of processes in megabytes. */
function residentMegabytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return sum + Number(kilobytes) / 1000
  }, 0)
}

/** Returns the milliseconds since the file was chosen. */
function sinceChosen(page: Page): Promise<number> {
  return page.evaluate(() => performance.now() - window.recorded.chosen)
}
