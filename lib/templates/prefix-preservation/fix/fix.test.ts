import { describe, expect, test } from 'vitest'
import { type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { loadedTokenizer, templateOf, tokenizerFolder } from '#testing/tokenizers.ts'
import { unifiedDiff } from '../diff.ts'
import { doctor } from '../doctor.ts'
import type { DoctorReport, Fix } from '../report.ts'
import {
  alias,
  doubles,
  dropsContent,
  dropsNewline,
  insertsThink,
  promptThinks,
  reorders,
  respells,
  steady,
  strips,
} from '../test-templates.ts'
import { type FixResult, fixFor } from './fix.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const qwen3 = loadedTokenizer(tokenizerFolder('qwen3'))
const qwen3Template = templateOf(qwen3)

const tried = (template: string, cell: string, tokenizer: LabTokenizer = bytes): FixResult =>
  runToEnd(fixFor({ input: { template }, cell }, tokenizer))

const found = new Map<string, Fix>()
/** Returns a fix. It is searched for once, because each search takes seconds with a real tokenizer. */
function fixed(template: string, cell: string, tokenizer: LabTokenizer = bytes): Fix {
  const key = `${cell}\n${template}`
  const fix = found.get(key) ?? tried(template, cell, tokenizer).fix
  if (!fix) throw new Error('no fix was found')
  found.set(key, fix)
  return fix
}

const reports = new Map<string, DoctorReport>()
/** Returns a report. It is made once, because templates and their fixes come again. No template is checked with two tokenizers. */
function examined(template: string, tokenizer: LabTokenizer): DoctorReport {
  const report = reports.get(template) ?? doctor({ template }, tokenizer)
  reports.set(template, report)
  return report
}
const verdicts = (template: string, tokenizer: LabTokenizer): ReadonlyMap<string, string> =>
  new Map(examined(template, tokenizer).cells.map(({ id, verdict }) => [id, verdict.kind]))

describe('a fix makes its cell stable and no other cell unstable:', () => {
  const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'))
  test.each<[string, string, string, LabTokenizer]>([
    ['stripped thinking', strips, 'tool/without/on', bytes],
    ['an inserted think block', insertsThink, 'user/none/off', bytes],
    ['a dropped newline', dropsNewline, 'tool/without/on', bytes],
    ['another end of turn', alias, 'tool/without/off', bytes],
    ['two ends of turn', doubles, 'tool/without/off', bytes],
    ['reordered results', reorders, 'order/without/off', bytes],
    ['an empty block of the generation prompt', promptThinks, 'tool/without/off/enable_thinking=false', bytes],
    ['content that is not printed', dropsContent, 'tool/with/off', bytes],
    ['Qwen3: stripped thinking', qwen3Template, 'user/none/on', qwen3],
    ['Qwen3: an inserted think block', qwen3Template, 'user/none/off', qwen3],
    ['Qwen3: the generation prompt', qwen3Template, 'tool/without/off/enable_thinking=false', qwen3],
    ['tiny-qwen3: stripped thinking', templateOf(tiny), 'user/none/on', tiny],
  ])('%s', (_, template, cell, tokenizer) => {
    const fix = fixed(template, cell, tokenizer)
    const [before, after] = [verdicts(template, tokenizer), verdicts(fix.template, tokenizer)]
    expect(before.get(cell)).toBe('unstable')
    expect(after.get(cell)).toBe('stable')
    expect([...before].filter(([id, kind]) => kind === 'stable' && after.get(id) !== 'stable')).toEqual([])
    expect(fix.cured).toContain(cell)
    expect(fix.diff).toBe(unifiedDiff(template, fix.template))
    expect(fix.why).not.toBe('')
  })
})

test('fixes of Qwen3 leave last replies unchanged', () => {
  expect(fixed(qwen3Template, 'user/none/on', qwen3)).toMatchObject({ costs: [], search: { conversations: 240 } })
  expect(fixed(qwen3Template, 'user/none/off', qwen3).costs.filter(({ where }) => where === 'last')).toEqual([])
})

test('one fix makes all cells of Qwen3 stable by writing every reply like the last one', () => {
  const { template } = fixed(qwen3Template, 'user/none/off', qwen3)
  expect(examined(template, qwen3).summary).toMatchObject({ unstable: 0, errors: 0 })
})

test('no fix is offered if none is sound or if the cell is not unstable', () => {
  expect(tried(respells, 'tool/without/off').fix).toBeUndefined()
  expect(tried(steady, 'tool/without/off')).toEqual({ fix: undefined, tried: 0 })
  expect(tried(steady, 'no such cell')).toEqual({ fix: undefined, tried: 0 })
  expect(tried('{% if %}', 'tool/without/off')).toEqual({ fix: undefined, tried: 0 })
})

test('the diff of a fix consists of hunks with their lines', () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)
  const after = before.with(2, 'three').with(17, 'eighteen')
  expect(unifiedDiff(before.join('\n'), after.join('\n'))).toBe(
    [
      '@@ -1,6 +1,6 @@',
      ' line 1',
      ' line 2',
      '-line 3',
      '+three',
      ' line 4',
      ' line 5',
      ' line 6',
      '@@ -15,6 +15,6 @@',
      ' line 15',
      ' line 16',
      ' line 17',
      '-line 18',
      '+eighteen',
      ' line 19',
      ' line 20',
      '',
    ].join('\n'),
  )
  expect(unifiedDiff('a', 'a')).toBe('')
})
