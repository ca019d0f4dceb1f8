import { expect, test } from 'vitest'
import { type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { unifiedDiff } from '../diff.ts'
import { dropsNewline, respells, steady } from '../test-templates.ts'
import { type RepairedTemplate, type RepairProgress, repair } from './repair.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }

function repaired(template: string, cell?: string, options = ''): RepairedTemplate {
  const result = runToEnd(repair({ input: { template, options }, cell }, bytes))
  if (result.kind !== 'repaired') throw new Error(result.failure.message)
  return result.repair
}

test('a repair cures one cause after the other and lists the fix of each with its cell', () => {
  const ends = "{{- ('<|endoftext|>\\n' if message.role == 'assistant' and not loop.last else '<|im_end|>\\n') -}}"
  const both = dropsNewline.replace("{{- '<|im_end|>\\n' -}}", ends)
  expect(both).not.toBe(dropsNewline)
  const { template, diff, applied, unstable } = repaired(both)
  expect(applied).toHaveLength(2)
  expect(applied.map(({ cured, cell }) => cured.includes(cell))).toEqual([true, true])
  expect(diff).toBe(unifiedDiff(both, template))
  expect(unstable).toEqual([])
})

test('a repair of one cell changes nothing if that cell is stable', () => {
  expect(repaired(dropsNewline, 'end/none/off', '{}')).toMatchObject({ template: dropsNewline, diff: '', applied: [] })
})

test('a repair without a sound fix leaves the template unchanged and names the unstable cells', () => {
  const { template, applied, unstable } = repaired(respells)
  expect([template, applied]).toEqual([respells, []])
  expect(unstable).toContain('tool/without/off')
})

test('a repair searches no fix for a cell that the template cannot render, and names the cell', () => {
  const failing = `${steady}{%- if messages[-1].role == 'tool' -%}{{- nothing.at.all -}}{%- endif -%}`
  const { applied, unstable } = repaired(failing)
  expect(applied).toEqual([])
  expect(unstable).toContain('tool/with/off')
})

test('a repair reports each change that it tries, with the repair so far', () => {
  const steps = repair({ input: { template: respells }, cell: 'tool/without/off' }, bytes)
  const reports: RepairProgress[] = []
  for (let step = steps.next(); !step.done; step = steps.next()) reports.push(step.value)
  expect(reports[0]).toEqual({ tried: 0, soFar: undefined })
  expect(reports.at(-1)?.soFar).toMatchObject({ template: respells, applied: [] })
})
