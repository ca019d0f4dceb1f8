import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { counting, headersOnly, looksBack } from '#testing/small-templates.ts'
import { loadedTokenizer, templateOf, tokenizerFolder } from '#testing/tokenizers.ts'
import { doctor } from './doctor.ts'
import { BOUNDARY_NAMES, type CauseKind, type Cell, type CellFinding, type DoctorReport } from './report.ts'
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
/** Returns the report of a template. It is made once, because several tests use the same template. */
function examined(template: string, options = ''): DoctorReport {
  const key = JSON.stringify([template, options])
  const report = reports.get(key) ?? doctor({ template, options }, bytes)
  reports.set(key, report)
  return report
}

const qwen3 = loadedTokenizer(tokenizerFolder('qwen3'))
/** Report of Qwen3, which several tests use. */
const qwen3Report = doctor({ template: templateOf(qwen3) }, qwen3)

const sample = (name: string) =>
  readFileSync(new URL(`../../../public/templates/${name}.jinja`, import.meta.url), 'utf8')
/** Returns a template that prefixes a system prompt with an expression. */
const printing = (expression: string) => `{{- ${expression} ~ '\\n' -}}${steady}`
const verdicts = ({ cells }: DoctorReport) => cells.map(({ id, verdict }) => `${id} ${verdict.kind}`)

const findings = ({ cells }: DoctorReport): readonly (CellFinding & { readonly id: string })[] =>
  cells.flatMap(({ id, verdict }) => (verdict.kind === 'unstable' ? [{ id, ...verdict.finding }] : []))
const causesIn = (report: DoctorReport): readonly CauseKind[] => [
  ...new Set(findings(report).map(({ cause }) => cause.kind)),
]
const cell = ({ cells }: DoctorReport, id: string): Cell => cells.find((each) => each.id === id) as Cell
const finding = (report: DoctorReport, id: string): CellFinding => {
  const { verdict } = cell(report, id)
  if (verdict.kind !== 'unstable') throw new Error(`${id} is ${JSON.stringify(verdict)}`)
  return verdict.finding
}
/** Returns the text around the first difference, with a bar before the difference. */
const shown = (side: CellFinding['expected'], { tokenIndex }: CellFinding): string => {
  const text = (from: number, to?: number) =>
    side.tokens
      .slice(from, to)
      .map(({ piece }) => piece)
      .join('')
  return `${text(0, tokenIndex - side.start)}|${text(tokenIndex - side.start)}`
}

test('a template that writes each message only from its own content is prefix-preserving at every boundary', () => {
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

describe('the doctor names the cause of', () => {
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
    ['the time of day', printing("strftime_now('%H:%M:%S')"), 'time'],
    ['minutes', printing("strftime_now('%M')"), 'time'],
  ])('%s', (_, template, kind) => {
    expect(causesIn(examined(template))).toEqual(expect.arrayContaining([kind]))
  })

  test('no defect if a template prints the date', () => {
    expect(examined(printing("strftime_now('%d %b %Y')")).summary.unstable).toBe(0)
  })

  test('another defect than the time if the template prints the time after it', () => {
    const late = strips.replace(
      '{%- if add_generation_prompt',
      "{{- strftime_now('%H:%M:%S') -}}{%- if add_generation_prompt",
    )
    expect(late).not.toBe(strips)
    expect(causesIn(examined(late))).toEqual(expect.arrayContaining(['thinking-stripped']))
  })

  test('no defect if a template trims, because scripted replies have no whitespace at their edges', () => {
    expect(examined(trims).summary.unstable).toBe(0)
  })
})

describe('the doctor learns what the model writes from the text after the generation prompt:', () => {
  test('a template with channels that preserves every prefix is stable in every cell', () => {
    const { summary, facts } = examined(channels)
    expect(summary).toMatchObject({ unstable: 0, errors: 0 })
    expect(summary.stable).toBeGreaterThan(30)
    expect(facts?.thinkingFields).toEqual(['thinking'])
  })

  test('a channel that history drops is found', () => {
    const report = examined(channels.replace('if message.thinking', 'if message.thinking and loop.last'))
    const found = finding(report, 'tool/without/on')
    expect(shown(found.expected, found)).toContain('<|channel|>|analysis<|message|>I nee')
    expect(found.cause).toEqual({
      kind: 'thinking-stripped',
      text: 'The template drops the thinking of the reply once something follows it.',
    })
  })

  test('results in the turn of their call are not missing, but the content after them has moved', () => {
    const report = examined(looksAhead)
    expect(cell(report, 'tool/without/off').verdict.kind).toBe('stable')
    expect(cell(report, 'parallel/without/off').verdict.kind).toBe('stable')
    const found = finding(report, 'tool/with/off')
    expect(found.cause.text).toBe('The template writes the content of the reply after the results of its calls.')
    // The line prints the result; it is not a line of the macro that it calls.
    expect(looksAhead.split('\n')[(found.line ?? 0) - 1]).toBe('{{- response(other.content) -}}')
  })

  test('a reply with thinking is not checked if the prompt closes the thinking', () => {
    const report = examined(closesThinking)
    expect(report.summary.unstable).toBe(0)
    expect(cell(report, 'tool/with/on').verdict).toMatchObject({ why: expect.stringContaining('does not think') })
  })

  test('no verdict is given if the reply never follows its prompt and its composed text does not render again', () => {
    const report = examined(brackets)
    expect(cell(report, 'tool/with/off').verdict).toEqual({
      kind: 'notApplicable',
      why: expect.stringContaining('The model’s text is unknown here'),
    })
  })
})

describe('a finding of the doctor contains', () => {
  test('the text where the two sides differ and the line that wrote it', () => {
    const report = examined(strips)
    const found = finding(report, 'tool/without/on')
    expect(shown(found.expected, found)).toContain('assistant\n|<think>\nI need the')
    expect(shown(found.rendered, found)).toContain('assistant\n|\n<tool_call>')
    expect(strips.split('\n')[(found.line ?? 0) - 1]).toContain('<tool_call>')
    expect(found.cause.text).toContain('drops the thinking of the reply')
  })

  test('the conversation for the editor', () => {
    const messages = JSON.parse(finding(examined(strips), 'user/none/on').messages)
    expect(messages.map(({ role }: { role: string }) => role).join()).toBe(
      'system,user,assistant,user,assistant,tool,assistant,user',
    )
    expect(messages[4]).toMatchObject({
      reasoning_content: 'The forecast tells.',
      tool_calls: [{ function: { arguments: { city: 'Zürich', days: 2 } } }],
    })
  })

  test('the expected order of the results', () => {
    const found = finding(examined(reorders), 'order/without/off')
    expect(shown(found.expected, found)).toMatch(/tool\n\|rain and wind/)
    expect(shown(found.rendered, found)).toMatch(/tool\n\|sunny and war/)
  })

  test('no line for a message that no line writes', () => {
    expect(finding(examined(dropsSystem), 'system/none/off')).toMatchObject({
      line: undefined,
      expectedLine: undefined,
    })
  })
})

describe('a cell that does not apply to a template gives the reason for', () => {
  test('thinking that the template does not render', () => {
    const report = examined(counting)
    expect(cell(report, 'tool/without/on').verdict).toEqual({
      kind: 'notApplicable',
      why: 'The template does not render thinking.',
    })
  })

  test('thinking, or its absence, that the generation prompt excludes', () => {
    expect(cell(examined(headersOnly), 'user/none/off').verdict).toMatchObject({
      kind: 'notApplicable',
      why: expect.stringContaining('always thinks'),
    })
    expect(cell(examined(promptThinks), 'user/none/on/enable_thinking=false').verdict).toMatchObject({
      kind: 'notApplicable',
      why: expect.stringContaining('does not think'),
    })
  })

  test('an exception that the template raises, with its message', () => {
    const refusing = `{%- if messages[-1].role == 'tool' -%}{{- raise_exception('no tools here') -}}{%- endif -%}${steady}`
    expect(cell(examined(refusing), 'tool/with/off').verdict).toEqual({
      kind: 'notApplicable',
      why: 'The template raises an error: no tools here',
    })
  })
})

describe('the report of the doctor', () => {
  test('contains the line of a render that fails', () => {
    const failing = `${steady}{%- if messages[-1].role == 'tool' -%}\n{{- nothing.at.all -}}{%- endif -%}`
    expect(cell(examined(failing), 'tool/with/off').verdict).toMatchObject({
      kind: 'error',
      failure: { className: 'UndefinedError', message: "'nothing' is undefined", line: 19 },
    })
    expect(examined(failing).summary.errors).toBeGreaterThan(0)
  })

  test('contains only the error if the template, the tools or the options are invalid', () => {
    expect(examined('{% if %}')).toMatchObject({
      cells: [],
      failure: { where: 'template', line: 1 },
      summary: { errors: 1 },
    })
    expect(examined(steady, '[')).toMatchObject({ failure: { where: 'options' } })
    expect(doctor({ template: steady, tools: '{}' }, bytes)).toMatchObject({ failure: { where: 'tools' } })
  })
})

test('the doctor gives up an endless template at its first render beyond the budget', () => {
  const endless = '{%- for i in range(99999) -%}{%- for j in range(99999) -%}{%- endfor -%}{%- endfor -%}'
  expect(examined(endless)).toMatchObject({ cells: [], failure: { className: 'BudgetError' }, summary: { errors: 1 } })
  const late = `${steady}{%- if messages[-1].role == 'tool' -%}${endless}{%- endif -%}`
  expect(examined(late)).toMatchObject({ cells: [], failure: { className: 'BudgetError' } })
})

describe('an option that the template reads', () => {
  test('becomes rows of the matrix if it changes the text; given options keep their values', () => {
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

test('an option that the template compares with texts is tried with these texts', () => {
  const effort = `{%- if effort is defined and effort == 'high' -%}{{- 'Think hard.\\n' -}}{%- elif effort in ['low', "none"] -%}{{- 'Be quick.\\n' -}}{%- endif -%}${steady}`
  const report = examined(effort)
  expect(report.facts?.options).toEqual([{ name: 'effort', values: ['high', 'low', 'none'] }])
  expect(cell(report, 'user/none/off/effort=high').verdict.kind).toBe('stable')
  expect(report.summary.unstable).toBe(0)
})

describe('the doctor finds', () => {
  test('in Qwen3 stripped thinking, dropped empty think blocks, and a prompt of enable_thinking=false that history lacks', () => {
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

  test('the same causes in the model that ships with Rollscope', () => {
    const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'))
    const report = doctor({ template: templateOf(tiny) }, tiny)
    expect(new Set(causesIn(report))).toEqual(
      new Set(['empty-think-dropped', 'thinking-stripped', 'generation-prompt']),
    )
  })

  test('in Llama 3.2 that content next to calls is dropped, and that it takes one call at a time', () => {
    const llama = loadedTokenizer(tokenizerFolder('llama3_2'))
    const report = doctor({ template: templateOf(llama) }, llama)
    expect(causesIn(report)).toEqual(['content-dropped'])
    expect(cell(report, 'parallel/with/off').verdict).toMatchObject({
      why: 'The template raises an error: This model only supports single tool-calls at once!',
    })
    expect(cell(report, 'tool/without/off').verdict.kind).toBe('stable')
  })

  // The template prints calls only next to a content of None, and transformers leaves out fields that are None.
  test('in DeepSeek V3 that calls are dropped and a later system message moves', () => {
    const deepseek = loadedTokenizer(tokenizerFolder('deepseek_v3'))
    const report = doctor({ template: templateOf(deepseek) }, deepseek)
    expect(report.facts).toMatchObject({ calls: 'dropped' })
    expect(finding(report, 'tool/without/off').cause.kind).toBe('call-dropped')
    expect(finding(report, 'system/none/off').cause.kind).toBe('system-changed')
  })
})

describe('the doctor checks a trajectory', () => {
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

  test('with its own ids, at its own boundaries', () => {
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

  test('and shows where it sampled other tokens than its text encodes to', () => {
    const report = recorded(example('retokenization-drift'))
    expect(finding(report, 'turn-1/as-text')).toMatchObject({ cause: { kind: 'merge' }, tokenIndex: 217 })
  })

  test('and shows the thinking that the template drops after a question', () => {
    const report = recorded(example('parallel-calls'))
    expect(finding(report, 'turn-2/as-parsed').cause.kind).toBe('thinking-stripped')
    expect(finding(report, 'turn-2/as-text').cause.kind).toBe('thinking-stripped')
  })
})

test('the doctor covers every boundary, and each id names one cell', () => {
  const { cells } = examined(looksBack)
  const ids = cells.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(cells.map(({ place }) => place.boundary))).toEqual(new Set(BOUNDARY_NAMES))
})

test('the report of the doctor is plain JSON', () => {
  expect(JSON.parse(JSON.stringify(qwen3Report))).toEqual(JSON.parse(JSON.stringify(structuredClone(qwen3Report))))
})

test('cells that an option renders like another cell name it, and distinct renders are counted without them', () => {
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

describe('the doctor in text mode', () => {
  test('has the verdicts that a template has with its own tokenizer, in every cell', () => {
    const template = templateOf(qwen3)
    const text = doctor({ template, compares: 'text' }, qwen3)
    const tokens = qwen3Report
    expect(verdicts(text)).toEqual(verdicts(tokens))
    expect(text.summary).toEqual(tokens.summary)
    expect(tokens.summary.merges).toBe(0)
    expect([text.compares, tokens.compares]).toEqual(['text', 'tokens'])
  })

  test('has the broken texts that the tokenizer of another family shows, whose merged tokens are counted separately', () => {
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
