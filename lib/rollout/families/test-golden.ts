/**
 * The renders of transformers with each family's template. The golden file of a family, written by peers/templates/record-families.ts,
 * has every render that its run requests, but no text of the template.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type ChatTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import type { RenderOutcome } from '#lib/templates/golden/test-golden.ts'

const goldenFolder = path.join(import.meta.dirname, 'golden')

/** The golden file of a family. */
export interface FamilyGolden {
  readonly 'made with': string
  /** SHA-256 of the template's text. */
  readonly template: string
  /** Replies of the model: the template's own rendering of them, where that is possible. */
  readonly replies: readonly string[]
  /** Renders of the conversation before each request, each stored as its difference from the previous one. */
  readonly prompts: readonly Front[]
  /** The render of every input of the run, by the key of the input. */
  readonly renders: Readonly<Record<string, Front | Exclude<RenderOutcome, string>>>
}

/** A text, stored as the number of characters that it shares with the previous text, and its remaining characters. */
export type Front = readonly [shared: number, rest: string]

/** Returns the path of a family's golden file. */
export const goldenFile = (name: string): string =>
  path.join(goldenFolder, `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.json`)

/** Reads a family's golden file. */
export const readGolden = (name: string): FamilyGolden => JSON.parse(readFileSync(goldenFile(name), 'utf8'))

/** Returns the texts of consecutive fronts. */
export function wholeTexts(fronts: readonly Front[]): readonly string[] {
  let last = ''
  return fronts.map(([shared, rest]) => {
    last = last.slice(0, shared) + rest
    return last
  })
}

/** Returns the key of a render input in the golden file: the first 16 hexadecimal digits of its SHA-256. */
export function keyOf({ messages, tools, addGenerationPrompt, options }: RenderInput): string {
  const input = JSON.stringify([messages, tools ?? null, addGenerationPrompt, options])
  return createHash('sha256').update(input).digest('hex').slice(0, 16)
}

/** Returns a template that renders the recorded inputs as transformers did. It throws an Error for any other input. */
export function recordedTemplate(name: string, { renders }: FamilyGolden): ChatTemplate {
  let last = ''
  const outcomes = new Map<string, RenderOutcome>()
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
          `the run of ${name} renders what its golden file lacks: run node peers/templates/record-families.ts\n${JSON.stringify(input)}`,
        )
      if (typeof outcome === 'string') return outcome
      throw new TemplateError(outcome.message, { className: outcome.class, line: outcome.line ?? undefined })
    },
  }
}
