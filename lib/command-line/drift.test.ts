/**
 * Tests `rollscope drift` as a shell calls it: real files, a real tokenizer, and the program itself for its exit
 * statuses.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { corpusReportSchema } from '#lib/analysis/corpus/report.ts'
import { strandsSglang } from '#lib/formats/strands-sglang.ts'
import { slime as slimeFormat } from '#lib/formats/trainers/slime.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { command } from './command.ts'

const folder = folderOfFile()

const program = path.resolve('bin/rollscope.js')
const example = (name: string) => JSON.parse(readFileSync(`public/examples/${name}.json`, 'utf8'))
const [drifting, steady] = [example('retokenization-drift'), example('two-steps')]
const lines = (...values: readonly (object | string)[]) =>
  values.map((value) => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`).join('')

beforeAll(() => {
  const files = {
    'drifting.json': JSON.stringify(drifting, null, 2),
    'steady.jsonl': lines(steady),
    'mixed.jsonl': lines(steady, '{"format": "rollscope.traj', drifting, { hello: 1 }),
    'nothing.jsonl': lines('{"hello": 1}', { token_ids: [1, 2], loss_mask: [0, 1] }),
    'cut.jsonl': lines({ ...drifting, segments: drifting.segments.slice(0, -1) }, { ...steady, id: 'nobody else' }),
    'template.jinja': '{% for message in messages %}{{ message.content }}{% endfor %}',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
  mkdirSync(path.join(folder, 'many', 'deep'), { recursive: true })
  writeFileSync(path.join(folder, 'many', 'deep', 'a.jsonl'), lines(steady, drifting))
  writeFileSync(path.join(folder, 'many', 'notes.txt'), 'no trajectory')
})

async function rollscope(parameters: readonly string[], input: string | Buffer = '') {
  let stdout = ''
  let stderr = ''
  const status = await command(['drift', ...parameters], {
    folder,
    places: {
      builtIn: { 'built-in': path.resolve('models/tiny-qwen3') },
      folders: [],
      hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
    },
    builtIn: 'built-in',
    input: Readable.from([Buffer.from(input)]),
    print: (text) => {
      stdout += text
    },
    complain: (text) => {
      stderr += text
    },
    version: '0',
    start: async () => {},
    stop() {},
    running: () => [],
  })
  return { status, stdout, stderr }
}

test('The rollscope program exits with the status of the command and reads standard input', async () => {
  const ended = (parameters: readonly string[], input = '') => {
    const child = spawn(process.execPath, [program, 'drift', ...parameters], { cwd: folder })
    child.stdin.end(input)
    const output = text(child.stdout)
    return new Promise<{ status: number | null; output: string }>((resolve) =>
      child.once('close', async (status) => resolve({ status, output: await output })),
    )
  }
  const stdin = readFileSync(path.join(folder, 'mixed.jsonl'), 'utf8')
  const all = await Promise.all([ended(['-', '--mode', 'text', '--json'], stdin), ended(['nothing.jsonl'])])
  expect(all.map(({ status }) => status)).toEqual([1, 3])
  expect(corpusReportSchema.parse(JSON.parse(all[0]?.output ?? '')).samples).toHaveLength(4)
})

test('The rollscope program runs through a link from another folder, as npm link installs it', async () => {
  const link = path.join(folder, 'rollscope')
  symlinkSync(program, link)
  const child = spawn(process.execPath, [link, '--version'], { cwd: os.tmpdir() })
  expect(await text(child.stdout)).toMatch(/^rollscope \d+\.\d+\.\d+\n$/)
})

test('rollscope drift exits with 0 without drift at or above --fail-on, and prints the drift below it', async () => {
  const { status, stdout } = await rollscope(['steady.jsonl', 'many', '--mode', 'text', '--fail-on', 'never'])
  expect(stdout).toContain('(3 rows in total')
  expect(stdout).toMatch(/^equal {8}steady\.jsonl:1 {2}no drift$/m)
  expect(stdout).toMatch(
    /^trained {6}many\/deep\/a\.jsonl:2 {2}\d+ spans?, \d+ of \d+ trained tokens, first at token 217/m,
  )
  // Turns count from 1, as on the page; only JSON counts from 0.
  expect(stdout).toMatch(/^ {2}turn 1: 1 of 3/m)
  expect(stdout).toMatch(/\(many\/deep\/a\.jsonl:2, drift 1\)/)
  expect(stdout).toMatch(
    /^ {2}> With its text encoded again your trainer sees 1 row; \d+ of \d+ trained tokens changes?; first at call 2\.$/m,
  )
  expect(stdout).toMatch(/3 samples: 3 checked, 0 not\. 1 with drift \(33\.3 %\)/)
  expect(status).toBe(0)
})

test('rollscope drift counts the rows of a single sample in words', async () => {
  const { stdout } = await rollscope(['drifting.json', '--fail-on', 'never'])
  expect(stdout).toContain('(1 row in total')
})

test('rollscope drift exits with 1 for drift at or above --fail-on; --json prints only the report; invalid lines do not stop the others', async () => {
  const { status, stdout, stderr } = await rollscope(['mixed.jsonl', '--mode', 'text', '--json', '--csv', 'drift.csv'])
  expect([status, stderr]).toEqual([1, ''])
  const report = corpusReportSchema.parse(JSON.parse(stdout))
  expect(report.samples.map(({ kind }) => kind)).toEqual(['checked', 'unchecked', 'checked', 'unchecked'])
  expect(report.against).toEqual({ mode: 'text' })
  expect(report.unchecked).toMatchObject([{ why: 'The record is not a trajectory.', samples: 2 }])
  expect(report.totals.samples).toMatchObject({ checked: 2, drifting: 1 })
  const csv = readFileSync(path.join(folder, 'drift.csv'), 'utf8').split('\r\n')
  expect(csv[0]).toMatch(/^place,id,title,status,severity,/)
  expect(csv[3]).toContain(`mixed.jsonl:3,${drifting.id},`)
  expect(readFileSync(path.join(folder, 'drift.kinds.csv'), 'utf8').split('\r\n')).toHaveLength(report.kinds.length + 2)
})

test('rollscope drift --fail-on structural fails if special tokens or roles drift, and not if only text does', async () => {
  const ended = async (mode: string) => {
    const { status, stdout } = await rollscope(['drifting.json', '--mode', mode, '--fail-on', 'structural', '--json'])
    const { totals, kinds, samples } = corpusReportSchema.parse(JSON.parse(stdout))
    expect(kinds.reduce((sum, { layers }) => sum + layers.structural, 0)).toBe(totals.layers.structural)
    expect(samples[0]).toMatchObject({ severity: 'trained' })
    return { status, structural: totals.layers.structural, samples: totals.samples.structural }
  }
  expect(await ended('text')).toEqual({ status: 0, structural: 0, samples: 0 })
  const template = ['--mode', 'raw', '--template', 'template.jinja', '--csv', 'structural.csv']
  const { status, stdout } = await rollscope(['drifting.json', ...template, '--fail-on', 'structural'])
  expect(status).toBe(1)
  expect(stdout).toMatch(/[1-9]\d* structural, \d+ content/)
  const [head, row] = readFileSync(path.join(folder, 'structural.csv'), 'utf8').split('\r\n')
  expect(head).toMatch(/,spans_structural,spans_content,prefix_kept,realigned_tokens,sentence$/)
  expect(row).toMatch(/,[1-9]\d*,\d+,\d+,\d+,"?With this template your trainer sees .*\."?$/)
})

test.each<[string, readonly string[], RegExp]>([
  ['no file', [], /drift requires a FILE/],
  ['no such option', ['a', '--colour'], /--colour/],
  [
    'no such thing to fail on',
    ['a', '--fail-on', 'layout'],
    /--fail-on takes one of trained, context, tail, structural, any/,
  ],
  ['no such mode', ['a', '--mode', 'sideways'], /--mode takes one of text, structured, raw/],
  ['two right sides', ['a', '--against', 'b', '--mode', 'text'], /--against compares samples as recorded/],
])('rollscope drift exits with 2 for %s', async (_what, parameters, why) => {
  const { status, stderr } = await rollscope(parameters)
  expect(stderr).toMatch(why)
  expect(status).toBe(2)
})

test('rollscope drift exits with 3 for a missing file next to a file without drift', async () => {
  const { status, stdout } = await rollscope(['steady.jsonl', 'nowhere.jsonl', '--mode', 'text'])
  expect(stdout).toMatch(/^not checked {2}nowhere\.jsonl#1 {2}The file cannot be read\./m)
  expect(status).toBe(3)
})

test('rollscope drift reports a line that is not UTF-8 as no trajectory, also of standard input, and checks the other lines', async () => {
  const wrong = Buffer.from(lines(steady, steady))
  wrong[wrong.length - 100] = 0xff
  writeFileSync(path.join(folder, 'wrong.jsonl'), wrong)
  for (const [parameters, input] of [[['wrong.jsonl']], [['-'], wrong]] as const) {
    const { status, stdout } = await rollscope([...parameters, '--mode', 'text'], input)
    expect(stdout).toMatch(/^equal .*:1 {2}no drift$/m)
    expect(stdout).toContain(`line 2: expected JSON, found bytes that are not UTF-8 (byte ${wrong.length - 99})`)
    expect(status).toBe(0)
  }
  const alone = Buffer.from(lines(steady))
  alone[100] = 0xff
  expect(await rollscope(['-'], alone)).toMatchObject({ status: 3 })
})

test.each([
  ['damaged.parquet', 'PAR1', 'expected a whole Parquet file, found another end than PAR1'],
  ['packed.jsonl.xz', '\xfd7zXZ\0', 'expected JSON, found an xz file'],
])(
  'rollscope drift exits with 3 for %s, which cannot be read, next to a file without drift',
  async (file, content, why) => {
    writeFileSync(path.join(folder, file), Buffer.from(content, 'latin1'))
    const { status, stdout } = await rollscope(['steady.jsonl', file, '--mode', 'text'])
    expect(stdout).toMatch(new RegExp(`^not checked {2}${file}#1 {2}The file cannot be read\\. ${why}`, 'm'))
    expect(status).toBe(3)
  },
)

test('rollscope drift reads a pipe, such as <(zcat a.gz) of a shell', async () => {
  const pipe = path.join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const [{ status, stdout }] = await Promise.all([
    rollscope(['pipe', '--mode', 'text']),
    writeFile(pipe, lines(steady, drifting)),
  ])
  expect(stdout).toMatch(/^equal {8}pipe:1 .*\ntrained {6}pipe:2 /m)
  expect(status).toBe(1)
})

test('rollscope drift exits with 3 before it reads samples if a CSV file cannot be written', async () => {
  const { status, stdout, stderr } = await rollscope(['drifting.json', '--csv', 'no such folder/a.csv'])
  expect([status, stdout]).toEqual([3, ''])
  expect(stderr).toContain('no such folder/a.csv cannot be written')
})

test('rollscope drift exits with 3 and names a tokenizer folder that does not exist', async () => {
  const { status, stdout } = await rollscope(['drifting.json', '--tokenizer', './qwen3'])
  expect(stdout).toContain('The tokenizer ./qwen3 is not available. there is no folder ./qwen3')
  expect(status).toBe(3)
})

test('rollscope drift ends silently when the reader of its output closes', async () => {
  writeFileSync(path.join(folder, 'long.jsonl'), lines(...Array.from({ length: 5_000 }, () => '{"hello": 1}')))
  const child = spawn(process.execPath, [program, 'drift', 'long.jsonl'], { cwd: folder })
  child.stdout.once('data', () => child.stdout.destroy())
  const said = text(child.stderr)
  await new Promise((resolve) => child.once('close', resolve))
  expect(await said).toBe('')
})

test('rollscope drift exits with 3 and prints each reason if nothing could be checked', async () => {
  const { status, stdout } = await rollscope(['-', '--json'], readFileSync(path.join(folder, 'nothing.jsonl'), 'utf8'))
  const { unchecked, totals } = corpusReportSchema.parse(JSON.parse(stdout))
  expect(totals.samples).toMatchObject({ checked: 0, unchecked: 2 })
  expect(unchecked.map(({ why }) => why)).toEqual(['The file names no tokenizer.', 'The record is not a trajectory.'])
  expect(status).toBe(3)
})

test('rollscope drift --against compares samples with those of another file by id', async () => {
  const { stdout } = await rollscope(['mixed.jsonl', '--against', 'cut.jsonl', '--json'])
  const { samples, against } = corpusReportSchema.parse(JSON.parse(stdout))
  expect(against).toEqual({ mode: 'file', file: 'cut.jsonl' })
  const differences = samples.map((sample) =>
    sample.kind === 'checked' ? sample.tokens.left - sample.tokens.right : sample.why,
  )
  expect(differences).toEqual([
    'cut.jsonl has no sample with this id.',
    'The record is not a trajectory.',
    drifting.segments.at(-1).ids.length,
    'The record is not a trajectory.',
    'Only cut.jsonl contains this sample.',
  ])
})

test('rollscope drift --against pairs records by number if one side has no ids, over all files of a side', async () => {
  const [slime, strands] = [slimeFormat, strandsSglang].map(
    (format) => (trajectory: Trajectory) => format.write?.(trajectory).value ?? {},
  ) as [(trajectory: Trajectory) => object, (trajectory: Trajectory) => object]
  const file = (name: string, ...values: readonly (object | string)[]) =>
    writeFileSync(path.join(folder, name), lines(...values))
  mkdirSync(path.join(folder, 'split'), { recursive: true })
  file('with-ids.jsonl', steady, drifting)
  file('without-ids.jsonl', slime(steady), slime(drifting))
  file('split/a.jsonl', strands(steady))
  file('split/b.jsonl', strands(drifting))
  file('short.jsonl', slime(steady))
  const paired = async (left: string, right: string) => {
    const { stdout } = await rollscope([left, '--against', right, '--json'])
    return corpusReportSchema
      .parse(JSON.parse(stdout))
      .samples.map((sample) => (sample.kind === 'checked' ? sample.tokens.left - sample.tokens.right : sample.why))
  }
  for (const left of ['with-ids.jsonl', 'without-ids.jsonl', 'split'])
    for (const right of ['with-ids.jsonl', 'without-ids.jsonl', 'split'])
      expect([left, right, await paired(left, right)]).toEqual([left, right, [0, 0]])
  expect(await paired('with-ids.jsonl', 'short.jsonl')).toEqual([0, 'short.jsonl has no sample with this number.'])
  expect(await paired('short.jsonl', 'with-ids.jsonl')).toEqual([0, 'Only with-ids.jsonl contains this sample.'])
})

test('rollscope drift --against reports a sample without tokens', async () => {
  writeFileSync(path.join(folder, 'empty.jsonl'), lines({ ...steady, segments: [] }))
  const whyOf = async (left: string, right: string) => {
    const { stdout } = await rollscope([left, '--against', right, '--json'])
    return corpusReportSchema.parse(JSON.parse(stdout)).unchecked.map(({ why }) => why)
  }
  expect(await whyOf('empty.jsonl', 'steady.jsonl')).toEqual(['The sample has no tokens.'])
  expect(await whyOf('steady.jsonl', 'empty.jsonl')).toEqual(['The other side has no tokens.'])
})

test('rollscope drift --template replaces the recorded template', async () => {
  const { stdout } = await rollscope(['steady.jsonl', '--template', 'template.jinja', '--json'])
  const { samples, against } = corpusReportSchema.parse(JSON.parse(stdout))
  expect(against).toEqual({ mode: 'structured', template: 'template.jinja' })
  expect(samples[0]).toMatchObject({ kind: 'checked', severity: expect.any(String) })
})

test('rollscope drift --help lists the exit statuses of docs/command-line.md', async () => {
  const { status, stdout } = await rollscope(['--help'])
  expect(status).toBe(0)
  const documented = readFileSync('docs/command-line.md', 'utf8').split('## rollscope drift')[1] ?? ''
  for (const number of ['0', '1', '2', '3']) {
    expect(stdout).toMatch(new RegExp(`[ :]${number} `))
    expect(documented).toMatch(new RegExp(`^\\| ${number} \\|`, 'm'))
  }
})
