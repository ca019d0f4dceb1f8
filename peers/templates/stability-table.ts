/** Writes the table of docs/template-lab.md: TRL's and the prefix doctor's verdicts on each template, and why they differ. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Cell } from '#lib/templates/prefix-preservation/report.ts'
import type { TrlAnswer, TrlGolden } from '#lib/templates/prefix-preservation/trl/test-trl.ts'
import type { DoctoredTemplate } from './stability-sweep.ts'

/** Path of the page with the table. */
export const stabilityPage = path.join(import.meta.dirname, '..', '..', 'docs', 'template-lab.md')

const BEGIN = '<!-- peers/templates/record-stability.ts writes the table. -->'
const END = '<!-- End of the table. -->'

/** Returns the page with the table. Throws an Error if a difference lacks an explanation, or an explanation is unnecessary. */
export function stabilityPageWith(templates: readonly DoctoredTemplate[], { templates: answers }: TrlGolden): string {
  const text = readFileSync(stabilityPage, 'utf8')
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`${stabilityPage} has no place for the table`)
  return `${before}${BEGIN}\n\n${tableOf(templates, answers)}\n${END}${after}`
}

function tableOf(templates: readonly DoctoredTemplate[], answers: TrlGolden['templates']): string {
  const rows = templates.map((template) => rowOf(template, answers[template.name] as TrlAnswer))
  const compared = rows.filter(({ trl }) => trl !== NOT_ASKED)
  const wrong = rows.filter(({ name, differs }) => differs !== (WHY[name] !== undefined))
  if (wrong.length > 0) throw new Error(`explain, or do not explain: ${wrong.map(({ name }) => name).join(', ')}`)
  const differing = compared.filter(({ differs }) => differs)
  const count = (kind: string): number => compared.filter(({ trl }) => trl === kind).length
  return [
    `TRL accepts ${compared.length} of ${rows.length} templates: ${count('True')} True, ${count('False')} False, ${compared.length - count('True') - count('False')} raise an error. The doctor differs on ${differing.length}.`,
    '',
    '| template | TRL | result follows | cells | why they differ |',
    '| --- | --- | --- | --- | --- |',
    ...compared.map(({ name, trl, cell, cells }) => `| ${name} | ${trl} | ${cell} | ${cells} | ${WHY[name] ?? ''} |`),
    '',
    `TRL does not check ${rows.length - compared.length} templates.`,
    '',
    '| template that TRL does not check | cells |',
    '| --- | --- |',
    ...rows.filter(({ trl }) => trl === NOT_ASKED).map(({ name, cells }) => `| ${name} | ${cells} |`),
    '',
  ].join('\n')
}

const NOT_ASKED = 'not asked'
const SIGNS: Readonly<Record<Cell['verdict']['kind'], string>> = {
  stable: '✓',
  unstable: '✗',
  notApplicable: '–',
  error: '!',
}

function rowOf({ name, report: { cells, summary } }: DoctoredTemplate, answer: TrlAnswer) {
  const trl =
    answer.error !== null ? answer.error.class : answer.supported ? (answer.preserving ? 'True' : 'False') : NOT_ASKED
  // A template whose generation prompt opens a think block has no reply without thinking.
  const near = ['tool/without/off', 'tool/without/on'].map((id) => cells.find((cell) => cell.id === id))
  const cell = near.find((each) => each && each.verdict.kind !== 'notApplicable') ?? near[0]
  const kind = cell?.verdict.kind ?? 'notApplicable'
  return {
    name,
    trl,
    cell: SIGNS[kind],
    cells: [
      `${summary.stable} ✓`,
      `${summary.unstable} ✗`,
      ...(summary.errors > 0 ? [`${summary.errors} !`] : []),
    ].join(' '),
    differs: trl !== NOT_ASKED && (trl === 'True') !== (kind === 'stable'),
  }
}

const PROMPT = 'TRL renders no generation prompt before the call.'
const OPEN_THINK = `${PROMPT} It ends with a think block that history lacks.`
const NO_TOOLS = 'TRL gives no tools, and the template goes through the list of tools. The doctor gives one.'

/** Reasons why TRL and the doctor differ about the result of a call, by template. */
const WHY: Readonly<Record<string, string>> = {
  'llama-cpp-python/Apriel-1.6-15b-Thinker-fixed': `${PROMPT} It ends with “Here are my reasoning steps:”, which history lacks.`,
  'llama-cpp-python/CohereForAI-c4ai-command-r7b-12-2024-tool_use':
    'The template begins another reply after the call, though none is requested. TRL reads that as the call.',
  'llama-cpp-python/NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use': NO_TOOLS,
  'llama-cpp-python/NousResearch-Hermes-3-Llama-3.1-8B-tool_use': NO_TOOLS,
  'llama-cpp-python/Qwen-QwQ-32B': OPEN_THINK,
  'llama-cpp-python/deepseek-ai-DeepSeek-R1-Distill-Qwen-32B': OPEN_THINK,
  'llama-cpp-python/deepseek-ai-DeepSeek-V3.2': `${PROMPT} It ends with an empty think block, of which history has only the end.`,
  'llama-cpp-python/google-gemma-4-31B-it-interleaved': `${PROMPT} It ends with an empty thought channel that history lacks.`,
  'llama-cpp-python/google-gemma-4-31B-it': `${PROMPT} It ends with an empty thought channel that history lacks.`,
  'llama-cpp-python/llama-cpp-deepseek-r1':
    'The template raises a TypeError where tools are given, as the doctor does. TRL gives none.',
  'trl/deepseekv3': OPEN_THINK,
  'trl/deepseekv3_training': OPEN_THINK,
}
