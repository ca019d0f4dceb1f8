import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { memoryTools } from './containers/container.ts'
import { openFile } from './reading/open.ts'
import { formats } from './registry.ts'

const page = readFileSync('docs/formats.md', 'utf8')
const FOREIGN = 'lib/formats/golden/foreign'
/** Tools whose files Rollscope opens. */
const TOOLS = [
  ...[
    'Rollscope',
    'strands-sglang',
    'verifiers',
    'Harbor',
    'tinker-cookbook',
    'slime',
    'miles',
    'prime-rl',
    'NeMo-RL',
    'NeMo-Gym',
  ],
  ...[
    'Atropos',
    'SkyRL',
    'verl',
    'TorchRL',
    'TRL',
    'Relax',
    'rLLM',
    'vLLM',
    'SGLang',
    'LiteLLM',
    'llama.cpp',
    'OpenAI',
    'Gemini',
    'Anthropic',
  ],
  ...['SWE-agent', 'OpenHands'],
  ...['Inspect', 'Agent Lightning', 'OpenTelemetry', 'MLflow', 'mini-swe-agent', 'Hugging Face datasets', 'ShareGPT'],
]
/** The lines of the tables that say how to get the file of a tool. */
const lines = page
  .split('| tool | how to get its file | opens as | checked |\n| --- | --- | --- | --- |\n')
  .slice(1)
  .flatMap((table) => table.slice(0, table.indexOf('\n\n')).split('\n'))
  .map((line) => {
    const [tool = '', how = '', opens = '', checked = ''] = line
      .split(' | ')
      .map((cell) => cell.replace(/^\| | \|$/g, ''))
    return {
      tool,
      how,
      checked,
      formats: Array.from(opens.matchAll(/`([\w-]+)`/g), ([, name = '']) => name),
      files: Array.from(checked.matchAll(/\]\(\.\.\/([^)]+)\)/g), ([, file = '']) => file),
    }
  })

async function formatOfFile(file: string): Promise<string> {
  const bytes = readFileSync(file)
  const source = { file: path.basename(file), now: '', newId: () => 'new' }
  const read = async (start: number, end: number) => bytes.subarray(start, end)
  for await (const one of openFile({ size: bytes.length, read }, source, { tools: memoryTools }))
    return one.ok ? one.format.name : one.error.message
  return 'nothing'
}

test('docs/formats.md lists every file format in the order in which a file is tried, and says which are written', () => {
  const [, rows = ''] = page.split('| format | opens | writes |\n| --- | --- | --- |')
  const [table = ''] = rows.split('\n\n')
  const listed = Array.from(table.matchAll(/^\| `([\w-]+)` \| .+ \| (.+) \|$/gm), ([, name, writes]) => ({
    name,
    isWritten: writes !== '–',
  }))
  expect(listed).toEqual(formats.map(({ name, write }) => ({ name, isWritten: write !== undefined })))
})

test('README.md states the number of file formats that the message of an unknown file states', () => {
  expect(readFileSync('README.md', 'utf8')).toContain(`[${formats.length} formats](docs/formats.md)`)
})

test('docs/formats.md says in a line of each tool how to get its file, and which format opens it', () => {
  expect(TOOLS.filter((tool) => !lines.some((line) => line.tool.startsWith(tool)))).toEqual([])
  const named = new Set(lines.flatMap((line) => line.formats))
  expect([...named].sort()).toEqual(formats.map(({ name }) => name).sort())
  expect(lines.filter(({ how, formats }) => how.length < 10 || formats.length === 0)).toEqual([])
})

test('docs/formats.md calls a file of a tool verified only with a link to one that the tool wrote', () => {
  const wrong = lines.filter(({ checked, files }) =>
    checked.startsWith('unverified') ? false : !/^(\[verified\]|verified with )/.test(checked) || files.length === 0,
  )
  expect(wrong).toEqual([])
  expect(lines.flatMap(({ files }) => files).filter((file) => !existsSync(file))).toEqual([])
  const linked = new Set(lines.flatMap(({ files }) => files))
  expect(readdirSync(FOREIGN).filter((name) => !linked.has(`${FOREIGN}/${name}`))).toEqual([])
})

test.each(
  lines.flatMap(({ tool, files, formats }) =>
    files
      .filter((file) => file.startsWith(FOREIGN) && !file.endsWith('.sqlite'))
      .map((file) => [tool, path.basename(file), file, formats] as const),
  ),
)('The file of %s, %s, opens as docs/formats.md says', async (_tool, _name, file, formats) => {
  expect(formats).toContain(await formatOfFile(file))
})
