/** Tests the command as a shell calls it: real files, a real tokenizer. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { DOCTOR_REPORT_VERSION } from '#lib/templates/prefix-preservation/report.ts'
import { alias, respells, steady } from '#lib/templates/prefix-preservation/test-templates.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { looksBack } from '#testing/small-templates.ts'
import { command } from './command.ts'

const tiny = path.resolve('models/tiny-qwen3')

const folder = folderOfFile()

const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text)
/** With the shipped tokenizer, two line breaks merge into one token at the generation prompt. */
const unmerged = steady.replace("'\\n<tool_call>", "'<tool_call>")
const aliased = alias.replace("'\\n<tool_call>", "'<tool_call>")
beforeAll(() => {
  write('steady.jinja', unmerged)
  write('looks-back.jinja', looksBack)
  write('alias.jinja', aliased)
  write('respells.jinja', respells)
  write('broken.jinja', 'fine\n{% if %}')
  write('tokenizer_config.json', JSON.stringify({ chat_template: [{ name: 'default', template: unmerged }] }, null, 2))
  write('empty.json', '{"a": 1}')
  write('rollouts.jsonl', '{"a": 1}\n{"a": {"b": 2}}\n')
  write('tools.json', '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]')
  write('no-trajectory.json', '{}')
  writeFileSync(path.join(folder, 'utf16.jinja'), Buffer.from('\uFEFFfine', 'utf16le'))
})

async function run(...argumentList: string[]) {
  let output = ''
  let complaint = ''
  let starts = 0
  const status = await command(argumentList, {
    folder,
    places: {
      builtIn: { tiny },
      folders: [],
      hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: folder },
    },
    builtIn: 'tiny',
    input: Readable.from([]),
    print: (text) => {
      output += text
    },
    complain: (text) => {
      complaint += text
    },
    version: '1.2.3',
    start: async () => {
      starts++
    },
    stop() {},
    running: () => [],
  })
  return { status, output, complaint, starts }
}

test('rollscope doctor exits with 0 and prints the counts for a template that keeps everything', async () => {
  const { status, output } = await run('doctor', 'steady.jinja')
  expect(output).toMatch(/^steady\.jinja, with the ids of tiny: \d+ stable, 0 unstable, \d+ not applicable, 0 errors\n/)
  expect(status).toBe(0)
})

test('rollscope doctor exits with 1 for a template that drops earlier thinking, and prints what, where and a remedy', async () => {
  const { status, output } = await run('doctor', 'looks-back.jinja')
  expect(status).toBe(1)
  expect(output).toMatch(/UNSTABLE user\//)
  expect(output).toMatch(/line \d+: /)
})

test('rollscope doctor --text compares characters: boundaries at which only tokens merge are no findings', async () => {
  write('merging.jinja', steady)
  const tokens = await run('doctor', 'merging.jinja')
  expect(tokens.output).toMatch(/ with the ids of tiny: \d+ stable, (\d+) unstable \(\1 of them only merge tokens\)/)
  expect(tokens.output).toMatch(/^ {2}merges {3}\w+\//m)
  const text = await run('doctor', 'merging.jinja', '--text')
  expect(text.output).toMatch(/^merging\.jinja, compared as text: \d+ stable, 0 unstable, /)
  expect([tokens.status, text.status]).toEqual([1, 0])
})

test('rollscope doctor --json prints the whole report and nothing else', async () => {
  const { status, output } = await run('doctor', 'looks-back.jinja', '--json')
  const report = JSON.parse(output)
  expect(report.version).toBe(DOCTOR_REPORT_VERSION)
  expect(report.summary.unstable).toBeGreaterThan(0)
  expect(status).toBe(1)
})

test('rollscope doctor uses the template of a model’s folder, with the given options and tools', async () => {
  const plain = JSON.parse((await run('doctor', tiny, '--json')).output)
  const set = JSON.parse(
    (await run('doctor', tiny, '--json', '--option', 'enable_thinking=false', '--tools', 'tools.json')).output,
  )
  expect(plain.tokenizer.name).toBe(tiny)
  const names = (report: { facts: { options: readonly { name: string }[] } }) =>
    report.facts.options.map(({ name }) => name)
  expect(names(plain)).toEqual(['enable_thinking'])
  // Besides the given value, the other value and no value are tried, and the given one is not repeated.
  const tried = ({ cells }: { cells: readonly { place: { options: object } }[] }) =>
    new Set(cells.map(({ place }) => JSON.stringify(place.options)))
  expect(tried(plain)).toEqual(new Set(['{}', '{"enable_thinking":true}', '{"enable_thinking":false}']))
  expect(tried(set)).toEqual(new Set(['{}', '{"enable_thinking":true}', '{"enable_thinking":null}']))
})

test('rollscope doctor --trajectory checks the recorded boundaries with the recorded tools, options and messages', async () => {
  for (const name of ['parallel-calls', 'two-steps', 'tool-error', 'retokenization-drift']) {
    const { status, output } = await run(
      'doctor',
      tiny,
      '--json',
      '--trajectory',
      path.resolve(`public/examples/${name}.json`),
    )
    const report = JSON.parse(output)
    expect([name, report.masks.failure, status]).toEqual([name, undefined, 1])
    expect(report.cells.some(({ id }: { id: string }) => id.startsWith('turn-1/'))).toBe(true)
    // Scripted conversations call the recorded tool.
    expect(output).toContain('\\"name\\":\\"calculator\\"')
    expect(output).not.toContain('get_weather')
  }
})

describe('rollscope doctor --fix', () => {
  test('writes the fixed template to standard output and a report to standard error, and the template is stable', async () => {
    const { status, output, complaint } = await run('doctor', 'alias.jinja', '--fix')
    expect(output).toBe(aliased.replace('<|endoftext|>', '<|im_end|>'))
    expect(complaint).toMatch(/^alias\.jinja: 1 fix applied, 0 cells still unstable\n/)
    expect(status).toBe(0)
  })

  test('writes a file with --out and prints a report; status 1 means that cells are still unstable', async () => {
    const all = await run('doctor', 'alias.jinja', '--fix', '--out', 'fixed.jinja')
    expect(all.output).toMatch(/^applied for user\/none\/off: Ends every turn with <\|im_end\|>/m)
    expect(all.output).toMatch(/^ {2}fixes \d+ cells; of \d+ generated conversations \d+ broke, \d+ still break$/m)
    expect(all.output).toMatch(
      /^ {2}changes: A plain reply that a question follows is written with "<\|im_end\|>" instead/m,
    )
    expect((await run('doctor', 'fixed.jinja')).status).toBe(0)
    const none = await run('doctor', 'respells.jinja', '--fix', '--json')
    const { template, applied, unstable } = JSON.parse(none.output)
    expect({ template, applied, status: none.status }).toEqual({ template: respells, applied: [], status: 1 })
    expect(unstable).toContain('tool/without/off')
  })
})

test('rollscope doctor reads the template of a tokenizer_config.json', async () => {
  expect((await run('doctor', 'tokenizer_config.json', '--tokenizer', tiny)).status).toBe(0)
})

test.each([
  [['doctor', 'broken.jinja'], 3, /line 2: TemplateSyntaxError: Expected an expression/],
  [['doctor', 'nowhere.jinja'], 3, /there is no file or folder .*nowhere\.jinja/],
  [['doctor', 'empty.json'], 3, /empty\.json has no chat template: it is neither Jinja nor JSON with a chat_template/],
  [['doctor', 'rollouts.jsonl'], 3, /rollouts\.jsonl has no chat template: it is neither Jinja nor JSON/],
  [['doctor', 'steady.jinja', '--tokenizer', './nowhere'], 3, /no folder|not under a folder/],
  [['doctor', 'steady.jinja', '--trajectory', 'no-trajectory.json'], 3, /is not a trajectory: /],
  [['doctor', 'steady.jinja', '--tools', 'nowhere.json'], 3, /nowhere\.json cannot be read/],
  [['doctor', 'utf16.jinja'], 3, /utf16\.jinja has bytes that are not UTF-8 \(byte 1\): save it as UTF-8/],
  [['doctor', 'steady.jinja', '--option', 'thinking'], 2, /KEY=VALUE/],
  [['doctor', 'broken.jinja', '--fix'], 3, /broken\.jinja: template, line 2: TemplateSyntaxError/],
  [['doctor', 'steady.jinja', '--fix', '--out', 'nowhere/x.jinja'], 3, /nowhere\/x\.jinja cannot be written/],
  [['doctor', 'steady.jinja', '--out', 'x.jinja'], 2, /requires --fix/],
  [['doctor'], 2, /takes one TEMPLATE or MODEL, not 0/],
  [['doctor', 'a', 'b'], 2, /not 2/],
  [['doctor', '--colour'], 2, /--colour/],
  [['drifts'], 2, /no command "drifts"/],
  [[], 2, /rollscope COMMAND/],
])('The command rollscope %j exits with %i and prints the reason', async (argumentList, status, why) => {
  const ended = await run(...argumentList)
  expect(`${ended.output}${ended.complaint}`).toMatch(why)
  expect(ended.status).toBe(status)
})

test('rollscope doctor --help lists the exit statuses of docs/command-line.md', async () => {
  expect(await run('--help')).toMatchObject({ status: 0, output: expect.stringContaining('doctor TEMPLATE|MODEL') })
  const { status, output } = await run('doctor', '--help')
  expect(status).toBe(0)
  const documented = readFileSync('docs/command-line.md', 'utf8')
  for (const number of ['0', '1', '2', '3']) {
    expect(output).toContain(`${number} `)
    expect(documented).toMatch(new RegExp(`^\\| ${number} \\|`, 'm'))
  }
})

test('rollscope --version prints the version and nothing else', async () => {
  expect(await run('--version')).toMatchObject({ status: 0, output: 'rollscope 1.2.3\n', complaint: '' })
  expect(await run('-v')).toMatchObject({ status: 0, output: 'rollscope 1.2.3\n' })
})

test('rollscope start starts the application once; with --help it lists the settings', async () => {
  expect(await run('start')).toEqual({ status: 0, output: '', complaint: '', starts: 1 })
  expect(await run('start', '--help')).toMatchObject({
    status: 0,
    output: expect.stringContaining('SGLANG_BASE_URL'),
    starts: 0,
  })
  expect(await run('start', '--port', '3001')).toMatchObject({
    status: 2,
    complaint: expect.stringContaining('"--port"'),
    starts: 0,
  })
})

test('rollscope --help names every command', async () => {
  const { output } = await run('--help')
  for (const name of ['start', 'doctor', 'drift', '--version']) expect(output).toContain(name)
})
