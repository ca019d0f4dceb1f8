/**
 * Measures the list of a large file, opened in Chromium on the built application: 40,000 samples in 2 GB of JSON lines, and a Parquet
 * file of 100 MB in one group of rows. Python reads the same files in the same run, with `json` and with pyarrow, so the ratios do not
 * depend on the machine. Run it with `node bench/pages/large-file.ts`; `node bench/pages/large-file.ts 4000` writes a tenth of both files. The
 * files are deleted afterwards.
 *
 * PYTHON names the interpreter, `python3` by default. Without pyarrow (`pip install pyarrow==26.0.1`) no Parquet file is measured.
 *
 * The samples are copies of two examples, which are real rollouts, with other ids and rewards. Those of the Parquet file have other
 * tokens and logprobs too, because equal ones would be compressed away.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { finished } from 'node:stream/promises'
import type { Browser, Page } from '@playwright/test'
import { elementAt } from '#lib/util/element-at.ts'
import { chooseFile, FIRST_TOKENS, longTasks, withBench } from '../support/browser.ts'
import { reportFigure } from '../support/figures.ts'
import { jsonLines, PYTHON, type PythonReader, parquetRows, reportPython } from '../support/python-readers.ts'

const SAMPLES = Number(process.argv[2] ?? 40_000)
/** Trajectories of 51 kB on average, with alternatives of each token. */
const EXAMPLES = ['retokenization-drift', 'tool-error']
/** Rows of the Parquet file for each line of the other, and its tokens in each row: 100 MB for 40,000 lines. */
const [ROWS_A_LINE, TOKENS_A_ROW] = [0.1, 2_400]
/** Limits of the issue: milliseconds to the first rows, and megabytes of the page's process. */
const [MOST_FIRST_MS, MOST_MB] = [3_000, 400]
/** The default of pyarrow is one group for all rows of this file. */
const WRITE_PARQUET = `import random, sys
import pyarrow as pa, pyarrow.parquet as pq
random.seed(1)
rows, tokens = int(sys.argv[2]), int(sys.argv[3])
def row(index):
    ids = [int(150000 * random.random() ** 3) for _ in range(tokens)]
    return {
        'id': f'sample-{index}',
        'messages': [{'role': 'user', 'content': f'What is {index} + {index}?'}, {'role': 'assistant', 'content': str(2 * index)}],
        'input_ids': ids,
        'loss_mask': [int(token >= 200) for token in range(tokens)],
        'logprobs': [-random.expovariate(2) for _ in range(tokens)],
        'reward': index % 100 / 100,
        'group': f'group-{index // 8}',
    }
schema = pa.schema({
    'id': pa.string(),
    'messages': pa.list_(pa.struct({'role': pa.string(), 'content': pa.string()})),
    'input_ids': pa.list_(pa.int64()),
    'loss_mask': pa.list_(pa.int32()),
    'logprobs': pa.list_(pa.float64()),
    'reward': pa.float64(),
    'group': pa.string(),
})
batches = [pa.RecordBatch.from_pylist([row(i) for i in range(at, min(at + 500, rows))], schema=schema) for at in range(0, rows, 500)]
pq.write_table(pa.Table.from_batches(batches), sys.argv[1])`

/** A file with what reads it in Python. */
interface Measured {
  readonly name: string
  readonly file: string
  readonly samples: number
  readonly python: PythonReader
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-large-file-'))
try {
  const lines = path.join(folder, 'samples.jsonl')
  await writeSamples(lines)
  const files: Measured[] = [{ name: 'JSON lines', file: lines, samples: SAMPLES, python: jsonLines }]
  if (hasPyarrow()) {
    const file = path.join(folder, 'samples.parquet')
    const samples = Math.round(SAMPLES * ROWS_A_LINE)
    execFileSync(PYTHON, ['-c', WRITE_PARQUET, file, String(samples), String(TOKENS_A_ROW)])
    files.push({ name: 'Parquet', file, samples, python: parquetRows })
  } else console.log(`${PYTHON} has no pyarrow: no Parquet file is measured`)
  for (const measured of files) await measure(measured)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure({ name, file, samples, python }: Measured): Promise<void> {
  const { size } = statSync(file)
  console.log(`${name}: ${samples} samples, ${(size / 1e9).toFixed(2)} GB`)
  const pythonSeconds = reportPython(name, file, size, python)
  await withBench(async ({ browser, open }) => {
    const page = await open('/library')
    const memory = await sampleMemory(browser)
    await chooseFile(page, file)
    const rows = page.getByRole('table', { name: 'Samples of the file' })
    await rows.getByRole('link').first().waitFor()
    reportFigure(`${name}: first rows`, await sinceChosen(page), 'ms', MOST_FIRST_MS)
    // A sample is opened, the index is stopped and resumed: the list must be whole all the same.
    const openedAt = performance.now()
    await rows.getByRole('link').first().click()
    await page.locator(FIRST_TOKENS).first().waitFor()
    reportFigure(`${name}: a sample that is opened while the file is indexed`, performance.now() - openedAt, 'ms')
    await page.goBack()
    const stopped = await stopAndResume(page)
    await page.locator('[data-index="finished"]').waitFor({ timeout: 3_600_000 })
    const seconds = (await sinceChosen(page)) / 1000
    const listed = await page.locator('[data-samples]').getAttribute('data-samples')
    if (Number(listed) !== samples) throw new Error(`the list has ${listed} samples of ${samples}`)
    const [longest = 0] = await longTasks(page)
    reportFigure(`${name}: samples at the stop, of ${samples}`, stopped, '')
    reportFigure(`${name}: index, MB/s`, size / 1e6 / seconds, '')
    reportFigure(`${name}: index over Python ${python.library}, time`, seconds / pythonSeconds, '×')
    const { before, peak } = memory.end()
    reportFigure(`${name}: page before the file`, before, 'MB')
    reportFigure(`${name}: page at its peak`, peak, 'MB', MOST_MB)
    reportFigure(`${name}: longest task of the page while it indexes`, longest, 'ms')
  })
}

/** Stops the index, and resumes it; returns the samples at the stop. A small file may be indexed already. */
async function stopAndResume(page: Page): Promise<number> {
  const samples = async () => Number(await page.locator('[data-samples]').getAttribute('data-samples'))
  const stop = page.getByRole('button', { name: 'Stop' })
  const isRunning = await Promise.race([
    stop.waitFor().then(() => true),
    page
      .locator('[data-index="finished"]')
      .waitFor()
      .then(() => false),
  ])
  if (!isRunning) return samples()
  await stop.click()
  await page.locator('[data-index="stopped"]').waitFor()
  // The answer that was under way when the index was stopped, of a second at most, is the last one.
  await page.waitForTimeout(3000)
  const atStop = await samples()
  await page.waitForTimeout(3000)
  if ((await samples()) !== atStop) throw new Error('the index continues after its stop')
  await page.getByRole('button', { name: 'Resume' }).click()
  return atStop
}

/** Samples the memory of the page's process until `end` is called, which returns its level before and its peak. */
async function sampleMemory(browser: Browser): Promise<{ end(): { readonly before: number; readonly peak: number } }> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
  const before = renderers.map(residentMegabytes)
  const peaks = [...before]
  const sampling = setInterval(() => {
    for (const [index, pid] of renderers.entries())
      peaks[index] = Math.max(elementAt(peaks, index), residentMegabytes(pid))
  }, 100)
  return {
    end() {
      clearInterval(sampling)
      // The browser has further processes without a page, which do not grow.
      const peak = Math.max(...peaks)
      return { peak, before: elementAt(before, peaks.indexOf(peak)) }
    },
  }
}

/** Writes copies of the examples, in turn, each with an id and a reward of its own. */
async function writeSamples(file: string): Promise<void> {
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

function hasPyarrow(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import pyarrow'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Returns the resident memory of a process in megabytes. */
function residentMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1000
}

/** Returns the milliseconds since the file was chosen. */
function sinceChosen(page: Page): Promise<number> {
  return page.evaluate(() => performance.now() - window.recorded.chosen)
}
