import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { counting, headersOnly, looksBack } from '#testing/small-templates.ts'
import { loadedTokenizer, templateOf, tokenizerFolder } from '#testing/tokenizers.ts'
import { doctor } from './doctor.ts'
import { boundaries, type CauseKind, type Cell, type DoctorReport, type Finding } from './report.ts'
import {
  alias,
  brackets,
  channels,
  closesThinking,
  doubles,
  dropsCalls,
  dropsContent,
  dropsNewline,
  dropsSystem,
  insertsThink,
  looksAhead,
  marksLate,
  movesSystem,
  promptThinks,
  reorders,
  respells,
  steady,
  strips,
  trims,
} from './test-templates.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const reports = new Map<string, DoctorReport>()
/** Made once: several tests look at the same template. */
function examined(template: string, options = ''): DoctorReport {
  const key = JSON.stringify([template, options])
  const report = reports.get(key) ?? doctor({ template, options }, bytes)
  reports.set(key, report)
  return report
}

const qwen3 = loadedTokenizer(tokenizerFolder('qwen3'))
/** Asked for by several tests. */
const qwen3Report = doctor({ template: templateOf(qwen3) }, qwen3)

const sample = (name: string) =>
  readFileSync(new URL(`../../../public/templates/${name}.jinja`, import.meta.url), 'utf8')
const verdicts = ({ cells }: DoctorReport) => cells.map(({ id, verdict }) => `${id} ${verdict.kind}`)

const findings = ({ cells }: DoctorReport): readonly (Finding & { readonly id: string })[] =>
  cells.flatMap(({ id, verdict }) => (verdict.kind === 'unstable' ? [{ id, ...verdict.finding }] : []))
const causesIn = (report: DoctorReport): readonly CauseKind[] => [
  ...new Set(findings(report).map(({ cause }) => cause.kind)),
]
const cell = ({ cells }: DoctorReport, id: string): Cell => cells.find((each) => each.id === id) as Cell
const finding = (report: DoctorReport, id: string): Finding => {
  const { verdict } = cell(report, id)
  if (verdict.kind !== 'unstable') throw new Error(`${id} is ${JSON.stringify(verdict)}`)
  return verdict.finding
}
/** The text around the first difference, which is marked by a bar. */
const shown = (side: Finding['expected'], { tokenIndex }: Finding): string => {
  const text = (from: number, to?: number) =>
    side.tokens
      .slice(from, to)
      .map(({ piece }) => piece)
      .join('')
  return `${text(0, tokenIndex - side.start)}|${text(tokenIndex - side.start)}`
}

test('a template that writes each message by what it holds alone is stable everywhere', () => {
  const report = examined(steady)
  expect(report.summary).toEqual({
    renders: { stable: 39, unstable: 0 },
    stable: 39,
    unstable: 0,
    merges: 0,
    notApplicable: 0,
    errors: 0,
  })
  expect(report.recipe).toMatchObject({
    kind: 'held',
    endOfTurn: { text: '<|im_end|>' },
    separator: '\n',
  })
  expect(report.recipe?.proofs).toHaveLength(36)
  expect(report.recipe?.appended[0]).toEqual({
    boundary: 'user',
    text: '<|im_end|>\n<|im_start|>user\nAnd tomorrow?<|im_end|>\n<|im_start|>assistant\n',
  })
})

describe('each defect is found, by its name and no other', () => {
  test.each<[string, string, CauseKind]>([
    ['stripped thinking', strips, 'thinking-stripped'],
    ['an empty think block of the last reply alone', insertsThink, 'empty-think-dropped'],
    ['a dropped newline', dropsNewline, 'whitespace'],
    ['another end of turn in history', alias, 'end-of-turn'],
    ['two ends of turn in history', doubles, 'end-of-turn'],
    ['reordered results', reorders, 'results-reordered'],
    ['a generation prompt that history lacks', promptThinks, 'generation-prompt'],
    ['calls that are not printed', dropsCalls, 'call-dropped'],
    ['calls that are written otherwise', respells, 'call-reserialised'],
    ['content that is not printed beside calls', dropsContent, 'content-dropped'],
    ['a system message that moves', movesSystem, 'system-changed'],
    ['a system message that is not printed', dropsSystem, 'message-dropped'],
    ['messages that are numbered', counting, 'generation-prompt'],
    ['results that are marked late in a conversation', marksLate, 'new-messages-rewritten'],
  ])('%s', (_, template, kind) => {
    expect(causesIn(examined(template))).toEqual(expect.arrayContaining([kind]))
  })

  test('whitespace at the edges of a reply is not scripted, so a trim shows only in the search', () => {
    expect(examined(trims).summary.unstable).toBe(0)
  })
})

describe('what the model writes is learnt from what the template adds behind its generation prompt', () => {
  test('so a template with channels that preserves every prefix is stable everywhere', () => {
    const { summary, facts } = examined(channels)
    expect(summary).toMatchObject({ unstable: 0, errors: 0 })
    expect(summary.stable).toBeGreaterThan(30)
    expect(facts?.thinkingFields).toEqual(['thinking'])
  })

  test('and a channel that history drops is found', () => {
    const report = examined(channels.replace('if message.thinking', 'if message.thinking and loop.last'))
    const found = finding(report, 'tool/without/on')
    expect(shown(found.expected, found)).toContain('<|channel|>|analysis<|message|>I nee')
    expect(found.cause).toEqual({
      kind: 'thinking-stripped',
      text: 'The template drops the thinking of the reply once something follows it.',
    })
  })

  test('with results in the turn of their call, nothing is missing; the content behind them has moved', () => {
    const report = examined(looksAhead)
    expect(cell(report, 'tool/without/off').verdict.kind).toBe('stable')
    expect(cell(report, 'parallel/without/off').verdict.kind).toBe('stable')
    const found = finding(report, 'tool/with/off')
    expect(found.cause.text).toBe('The template writes the content of the reply after the results of its calls.')
    // The line that prints the result, not that of the macro which it calls.
    expect(looksAhead.split('\n')[(found.line ?? 0) - 1]).toBe('{{- response(other.content) -}}')
  })

  test('a thinking reply is not asked of a prompt that closes the thinking', () => {
    const report = examined(closesThinking)
    expect(report.summary.unstable).toBe(0)
    expect(cell(report, 'tool/with/on').verdict).toMatchObject({ why: expect.stringContaining('does not think') })
  })

  test('where the template never writes the reply behind its prompt, and what is put together does not render again, no verdict is given', () => {
    const report = examined(brackets)
    expect(cell(report, 'tool/with/off').verdict).toEqual({
      kind: 'notApplicable',
      why: expect.stringContaining('The model’s text is unknown here'),
    })
  })
})

describe('a finding says', () => {
  test('where the two sides differ, and which line wrote it', () => {
    const report = examined(strips)
    const found = finding(report, 'tool/without/on')
    expect(shown(found.expected, found)).toContain('assistant\n|<think>\nI need the')
    expect(shown(found.rendered, found)).toContain('assistant\n|\n<tool_call>')
    expect(strips.split('\n')[(found.line ?? 0) - 1]).toContain('<tool_call>')
    expect(found.cause.text).toContain('drops the thinking of the reply')
  })

  test('the conversation, to be opened in the editor', () => {
    const messages = JSON.parse(finding(examined(strips), 'user/none/on').messages)
    expect(messages.map(({ role }: { role: string }) => role).join()).toBe(
      'system,user,assistant,user,assistant,tool,assistant,user',
    )
    expect(messages[4]).toMatchObject({
      reasoning_content: 'The forecast tells.',
      tool_calls: [{ function: { arguments: { city: 'Zürich', days: 2 } } }],
    })
  })

  test('what would have been the order', () => {
    const found = finding(examined(reorders), 'order/without/off')
    expect(shown(found.expected, found)).toMatch(/tool\n\|rain and wind/)
    expect(shown(found.rendered, found)).toMatch(/tool\n\|sunny and war/)
  })

  test('no line of a message that no line writes', () => {
    expect(finding(examined(dropsSystem), 'system/none/off')).toMatchObject({
      line: undefined,
      expectedLine: undefined,
    })
  })
})

describe('cells that ask nothing of a template say why', () => {
  test('thinking, of a template that knows none', () => {
    const report = examined(counting)
    expect(cell(report, 'tool/without/on').verdict).toEqual({
      kind: 'notApplicable',
      why: 'The template does not render thinking.',
    })
  })

  test('no thinking, where the prompt opens a block; thinking, where it closes one', () => {
    expect(cell(examined(headersOnly), 'user/none/off').verdict).toMatchObject({
      kind: 'notApplicable',
      why: expect.stringContaining('always thinks'),
    })
    expect(cell(examined(promptThinks), 'user/none/on/enable_thinking=false').verdict).toMatchObject({
      kind: 'notApplicable',
      why: expect.stringContaining('does not think'),
    })
  })

  test('what the template refuses, in its own words', () => {
    const refusing = `{%- if messages[-1].role == 'tool' -%}{{- raise_exception('no tools here') -}}{%- endif -%}${steady}`
    expect(cell(examined(refusing), 'tool/with/off').verdict).toEqual({
      kind: 'notApplicable',
      why: 'The template refuses it: no tools here',
    })
  })
})

describe('errors', () => {
  test('of a render are told with their line', () => {
    const failing = `${steady}{%- if messages[-1].role == 'tool' -%}\n{{- nothing.at.all -}}{%- endif -%}`
    expect(cell(examined(failing), 'tool/with/off').verdict).toMatchObject({
      kind: 'error',
      failure: { className: 'UndefinedError', message: "'nothing' is undefined", line: 19 },
    })
    expect(examined(failing).summary.errors).toBeGreaterThan(0)
  })

  test('of the template, the tools and the options are the whole report', () => {
    expect(examined('{% if %}')).toMatchObject({
      cells: [],
      failure: { where: 'template', line: 1 },
      summary: { errors: 1 },
    })
    expect(examined(steady, '[')).toMatchObject({ failure: { where: 'options' } })
    expect(doctor({ template: steady, tools: '{}' }, bytes)).toMatchObject({ failure: { where: 'tools' } })
  })
})

test('a template that does not end is given up at its first render that takes too much', () => {
  const endless = '{%- for i in range(99999) -%}{%- for j in range(99999) -%}{%- endfor -%}{%- endfor -%}'
  expect(examined(endless)).toMatchObject({ cells: [], failure: { className: 'BudgetError' }, summary: { errors: 1 } })
  const late = `${steady}{%- if messages[-1].role == 'tool' -%}${endless}{%- endif -%}`
  expect(examined(late)).toMatchObject({ cells: [], failure: { className: 'BudgetError' } })
})

describe('options', () => {
  test('that are read and change something become rows; those given stay as they are', () => {
    const template = `{%- if shout is defined and shout -%}{{- 'LOUD\\n' -}}{%- endif -%}${promptThinks}`
    const report = examined(template)
    expect(report.facts?.options).toEqual([
      { name: 'shout', values: [true] },
      { name: 'enable_thinking', values: [true, false] },
    ])
    const rows = (options: string) => [
      ...new Set(
        examined(template, options).cells.flatMap(({ place }) =>
          place.kind === 'script' ? [JSON.stringify(place.options)] : [],
        ),
      ),
    ]
    expect(rows('')).toEqual(['{}', '{"shout":true}', '{"enable_thinking":true}', '{"enable_thinking":false}'])
    expect(rows('{"enable_thinking": false}')).toEqual([
      '{}',
      '{"shout":true}',
      '{"enable_thinking":null}',
      '{"enable_thinking":true}',
    ])
    const left = examined(template, '{"enable_thinking": false}')
    expect(cell(left, 'user/none/on/enable_thinking=absent').verdict.kind).toBe('stable')
    expect(cell(left, 'user/none/on').verdict.kind).toBe('notApplicable')
  })
})

test('an option that the template holds against texts is tried with them', () => {
  const effort = `{%- if effort is defined and effort == 'high' -%}{{- 'Think hard.\\n' -}}{%- elif effort in ['low', "none"] -%}{{- 'Be quick.\\n' -}}{%- endif -%}${steady}`
  const report = examined(effort)
  expect(report.facts?.options).toEqual([{ name: 'effort', values: ['high', 'low', 'none'] }])
  expect(cell(report, 'user/none/off/effort=high').verdict.kind).toBe('stable')
  expect(report.summary.unstable).toBe(0)
})

describe('real templates', () => {
  test('of Qwen3: thinking is stripped, so are empty think blocks, and the prompt of enable_thinking=false is left out', () => {
    const template = templateOf(qwen3)
    const report = qwen3Report

    expect(report.summary).toEqual({
      renders: { stable: 26, unstable: 26 },
      stable: 51,
      unstable: 40,
      merges: 0,
      notApplicable: 26,
      errors: 0,
    })
    const lines = template.split('\n')
    const strip = finding(report, 'user/none/stripped')
    expect(strip).toMatchObject({ cause: { kind: 'thinking-stripped' }, message: 6 })
    expect(lines[(strip.line ?? 0) - 1]).toContain("{{- '<|im_start|>' + message.role + '\\n' + content }}")
    // Without thinking the model writes an empty block, as the template does for the last reply.
    expect(cell(report, 'end/none/off').verdict.kind).toBe('stable')
    expect(finding(report, 'tool/without/off')).toMatchObject({ cause: { kind: 'empty-think-dropped' } })
    expect(finding(report, 'tool/with/off/enable_thinking=false')).toMatchObject({
      cause: { kind: 'generation-prompt' },
    })
    expect(causesIn(report)).toHaveLength(3)
    expect(report.recipe?.kind).toBe('held')
  })

  test('of the model that ships: the same causes', () => {
    const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'))
    const report = doctor({ template: templateOf(tiny) }, tiny)
    expect(new Set(causesIn(report))).toEqual(
      new Set(['empty-think-dropped', 'thinking-stripped', 'generation-prompt']),
    )
  })

  test('of Llama 3.2: one call at a time, and no content beside it', () => {
    const llama = loadedTokenizer(tokenizerFolder('llama3_2'))
    const report = doctor({ template: templateOf(llama) }, llama)
    expect(causesIn(report)).toEqual(['content-dropped'])
    expect(cell(report, 'parallel/with/off').verdict).toMatchObject({
      why: 'The template refuses it: This model only supports single tool-calls at once!',
    })
    expect(cell(report, 'tool/without/off').verdict.kind).toBe('stable')
  })

  // It prints calls only beside a content of None, and transformers leaves out what is None.
  test('of DeepSeek V3: no calls are printed, a later system message moves', () => {
    const deepseek = loadedTokenizer(tokenizerFolder('deepseek_v3'))
    const report = doctor({ template: templateOf(deepseek) }, deepseek)
    expect(report.facts).toMatchObject({ calls: 'dropped' })
    expect(finding(report, 'tool/without/off').cause.kind).toBe('call-dropped')
    expect(finding(report, 'system/none/off').cause.kind).toBe('system-changed')
  })
})

describe('a trajectory', () => {
  const example = (name: string): Trajectory => JSON.parse(readFileSync(`public/examples/${name}.json`, 'utf8'))
  const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'))
  const recorded = (trajectory: Trajectory) => {
    const { template, tools } = trajectory.model
    const given = tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    }))
    const input = {
      template: template?.text ?? '',
      tools: JSON.stringify(given),
      options: JSON.stringify(template?.options ?? {}),
      trajectory,
    }
    const report = doctor(input, tiny)
    return { ...report, cells: report.cells.filter(({ place }) => place.kind === 'trajectory') }
  }

  test('is checked with its own ids, at the boundaries that it has', () => {
    const report = recorded(example('two-steps'))
    expect(report.cells.map(({ id, verdict }) => `${id} ${verdict.kind}`)).toEqual([
      'turn-1/as-text stable',
      'turn-1/as-parsed stable',
      'turn-2/as-text stable',
      'turn-2/as-parsed stable',
      'turn-3/as-text stable',
      'turn-3/as-parsed stable',
    ])
    expect(report.cells.flatMap(({ place }) => place.boundary)).toEqual(['tool', 'tool', 'tool', 'tool', 'end', 'end'])
  })

  test('that sampled other tokens than its text has shows where', () => {
    const report = recorded(example('retokenization-drift'))
    expect(finding(report, 'turn-1/as-text')).toMatchObject({ cause: { kind: 'merge' }, tokenIndex: 217 })
  })

  test('whose thinking the template drops behind a question shows that', () => {
    const report = recorded(example('parallel-calls'))
    expect(finding(report, 'turn-2/as-parsed').cause.kind).toBe('thinking-stripped')
    expect(finding(report, 'turn-2/as-text').cause.kind).toBe('thinking-stripped')
  })
})

test('every boundary is in the matrix, and an id names one cell', () => {
  const { cells } = examined(looksBack)
  const ids = cells.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(cells.map(({ place }) => place.boundary))).toEqual(new Set(boundaries))
})

test('a report is plain JSON', () => {
  expect(JSON.parse(JSON.stringify(qwen3Report))).toEqual(JSON.parse(JSON.stringify(structuredClone(qwen3Report))))
})

test('Cells that an option renders as another one name it, and distinct renders are counted without them', () => {
  const { cells, summary } = examined(promptThinks)
  const twin = cells.find(({ id }) => id === 'user/none/off/enable_thinking=true')
  expect(twin?.sameAs).toBe('user/none/off')
  expect(cells.find(({ id }) => id === 'user/none/off')?.sameAs).toBeUndefined()
  const repeated = cells.filter(({ sameAs }) => sameAs !== undefined)
  expect(repeated.length).toBeGreaterThan(10)
  expect(summary.renders.stable + summary.renders.unstable + repeated.length).toBe(summary.stable + summary.unstable)
  for (const { sameAs, verdict } of repeated)
    expect(cells.find(({ id }) => id === sameAs)?.verdict.kind).toBe(verdict.kind)
})

describe('compared as text', () => {
  test('a template has the verdicts that it has with its own tokenizer, at every boundary', () => {
    const template = templateOf(qwen3)
    const text = doctor({ template, compares: 'text' }, qwen3)
    const tokens = qwen3Report
    expect(verdicts(text)).toEqual(verdicts(tokens))
    expect(text.summary).toEqual(tokens.summary)
    expect(tokens.summary.merges).toBe(0)
    expect([text.compares, tokens.compares]).toEqual(['text', 'tokens'])
  })

  test('a template with the tokenizer of another family: merged tokens are counted apart, and what the template breaks stays', () => {
    const template = sample('glm-like')
    const text = doctor({ template, compares: 'text' }, qwen3)
    const tokens = doctor({ template }, qwen3)
    expect(text.summary.merges).toBe(0)
    expect(tokens.summary.merges).toBeGreaterThan(10)
    expect(tokens.summary.unstable - tokens.summary.merges).toBe(text.summary.unstable)
    for (const { finding } of findings(tokens)
      .map((each) => ({ finding: each }))
      .filter(({ finding }) => !finding.textDiffers))
      expect(finding.cause.kind).toBe('merge')
  })
})
