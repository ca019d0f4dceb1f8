import { expect, test } from 'vitest'
import { type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { counterexample, stability, stabilityFix, stabilityRepair } from './task.ts'

const tokenizer: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const input = { template: '{% if %}', tools: '', options: '', compares: 'text' as const }

test('the tasks of the prefix doctor need a tokenizer', async () => {
  const [fix, repair, search] = await Promise.all([stabilityFix.load(), stabilityRepair.load(), counterexample.load()])
  expect(() => stability(input, [])).toThrow('the doctor needs a tokenizer')
  expect(() => fix({ input, cell: 'x' }, [])).toThrow('the doctor needs a tokenizer')
  expect(() => repair({ input, cell: undefined }, [])).toThrow('the doctor needs a tokenizer')
  expect(() => search({ input, seed: 1, cases: 1, known: [] }, [])).toThrow('the doctor needs a tokenizer')
})

test('a template that does not compile is neither checked nor repaired, and its error is reported', async () => {
  const failure = { where: 'template', className: 'TemplateSyntaxError', line: 1 }
  expect(runToEnd(stability(input, [tokenizer]))).toMatchObject({ failure, cells: [] })
  const repair = await stabilityRepair.load()
  expect(runToEnd(repair({ input, cell: undefined }, [tokenizer]))).toMatchObject({ kind: 'failed', failure })
})
