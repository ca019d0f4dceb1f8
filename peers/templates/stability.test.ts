/** Compares the prefix doctor's verdicts on real templates with transformers and with TRL's own check. */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, inject, test } from 'vitest'
import { readTrlGolden, type TrlGolden } from '#lib/templates/prefix-preservation/trl/test-trl.ts'
import { confirmedCells, type DoctoredTemplate, doctored, templatesIn, trlGolden } from './stability-sweep.ts'
import { stabilityPage, stabilityPageWith } from './stability-table.ts'

const { templates: python, chatTemplates } = inject('places').peers

let templates: readonly DoctoredTemplate[]
let golden: TrlGolden
beforeAll(async () => {
  templates = templatesIn(chatTemplates).map(doctored)
  golden = await trlGolden(python, templates)
})

test('The golden file of TRL’s check contains TRL’s answers, and the doctor gives the same', () => {
  expect(readTrlGolden()).toEqual(golden)
  for (const { name, report } of templates) {
    const { supported, preserving, error } = golden.templates[name] ?? {}
    const kind = error ? 'failed' : supported ? (preserving ? 'preserving' : 'rewritten') : 'notAsked'
    expect([name, report.trl?.kind]).toEqual([name, kind])
  }
})

test('docs/template-lab.md has TRL’s verdicts beside the doctor’s, with a reason for each difference', () => {
  expect(readFileSync(stabilityPage, 'utf8')).toBe(stabilityPageWith(templates, golden))
})

test('Transformers confirms every verdict: the next turn begins with what was read and written, or does not', async () => {
  const { stable, unstable, refuted } = await confirmedCells(python, templates)
  expect(refuted).toEqual([])
  expect(stable).toBeGreaterThan(4000)
  expect(unstable).toBeGreaterThan(1000)
})
