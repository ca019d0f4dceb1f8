/**
 * Tests real chat templates: the golden files of lib/rollout/families, runs with the templates themselves, and
 * docs/chat-templates.md.
 */
import { readFileSync } from 'node:fs'
import { expect, inject, test } from 'vitest'
import { families, tokenizerOf } from '#lib/rollout/families/test-families.ts'
import { readGolden, wholeTexts } from '#lib/rollout/families/test-golden.ts'
import { runFamily } from '#lib/rollout/families/test-run.ts'
import { startScriptedGenerateServer } from '#lib/rollout/families/test-server.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { CLOCK } from '#lib/templates/golden/test-golden.ts'
import { familyGoldens, templateText } from './family-goldens.ts'
import { type Kind, sweepTemplates } from './template-sweep.ts'
import { pageWith, tablePage } from './template-table.ts'

/**
 * Kinds that must not occur: a run fails although transformers renders, the model does not read a result, or differing ids
 * are not reported.
 */
const MUST_NOT_BE: readonly Kind[] = ['failed', 'lost', 'unnoticed']

const { templates: python, chatTemplates } = inject('places').peers

test('The golden files of model families contain the renders of transformers with their real templates', async () => {
  const made = await familyGoldens(python, chatTemplates)
  for (const [name, golden] of made) expect([name, readGolden(name)]).toEqual([name, golden])
})

test('A run with the real template itself sends the ids of transformers’ render', async () => {
  const server = await startScriptedGenerateServer()
  try {
    for (const family of families.filter(({ breaks }) => !breaks)) {
      const real = chatTemplate(templateText(family, chatTemplates), family.specialTokens)
      const template = {
        text: real.text,
        render: (input: Parameters<typeof real.render>[0]) => real.render({ ...input, clock: () => CLOCK }),
      }
      const golden = readGolden(family.name)
      const { requests } = await runFamily(family, template, golden.replies, server, true)
      expect([family.name, requests]).toEqual([family.name, wholeTexts(golden.prompts).map(tokenizerOf(family).encode)])
    }
  } finally {
    await server.close()
  }
})

test('docs/chat-templates.md lists what a run does with every chat template, and no run loses a tool result', async () => {
  const swept = await sweepTemplates(python, chatTemplates)
  expect(swept.filter(({ kind }) => MUST_NOT_BE.includes(kind))).toEqual([])
  expect(swept.length).toBe(142)
  expect(readFileSync(tablePage, 'utf8')).toBe(pageWith(swept))
})
