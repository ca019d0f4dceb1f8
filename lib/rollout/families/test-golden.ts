/**
 * What transformers renders with each family's template: the file of peers/record-families.ts has every render that a run
 * of the family asks for, and no text of the template.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type ChatTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import type { Outcome } from '#lib/templates/golden/test-golden.ts'

const goldenFolder = path.join(import.meta.dirname, 'golden')

export interface FamilyGolden {
  readonly 'made with': string
  /** SHA-256 of the template's text. */
  readonly template: string
  /** What the model writes: the template's own rendering of the replies, where that is possible. */
  readonly replies: readonly string[]
  /** What the template renders for the conversation before each request, each as far as it differs from the one before. */
  readonly prompts: readonly Front[]
  /** Every input that a run renders, by its key. */
  readonly renders: Readonly<Record<string, Front | Exclude<Outcome, string>>>
}

/** How many characters a text shares with the one before it, and the rest. */
export type Front = readonly [shared: number, rest: string]

export const goldenFile = (name: string): string =>
  path.join(goldenFolder, `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.json`)

export const readGolden = (name: string): FamilyGolden => JSON.parse(readFileSync(goldenFile(name), 'utf8'))

export function wholeTexts(fronts: readonly Front[]): readonly string[] {
  let last = ''
  return fronts.map(([shared, rest]) => {
    last = last.slice(0, shared) + rest
    return last
  })
}

export function keyOf({ messages, tools, addGenerationPrompt, options }: RenderInput): string {
  const input = JSON.stringify([messages, tools ?? null, addGenerationPrompt, options])
  return createHash('sha256').update(input).digest('hex').slice(0, 16)
}

/** A template that knows the recorded inputs, and renders what transformers rendered. */
export function recordedTemplate(name: string, { renders }: FamilyGolden): ChatTemplate {
  let last = ''
  const outcomes = new Map<string, Outcome>()
  for (const [key, outcome] of Object.entries(renders)) {
    if ('class' in outcome) outcomes.set(key, outcome)
    else {
      last = last.slice(0, outcome[0]) + outcome[1]
      outcomes.set(key, last)
    }
  }
  return {
    text: '',
    render(input) {
      const outcome = outcomes.get(keyOf(input))
      if (outcome === undefined)
        throw new Error(
          `the run of ${name} renders what its golden file lacks: run node peers/record-families.ts\n${JSON.stringify(input)}`,
        )
      if (typeof outcome === 'string') return outcome
      throw new TemplateError(outcome.message, { className: outcome.class, line: outcome.line ?? undefined })
    },
  }
}
