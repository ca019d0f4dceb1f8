/** Compares loss masks with those of transformers, and with the two differences written in Python (golden/make.py). */

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import type { TemplateMessage } from '#lib/templates/chat-template.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { type ConversationTokens, conversationTokens } from './conversation.ts'
import { fixedBaseDifference } from './fixed-base.ts'
import { generationMask } from './generation.ts'
import { prefixDifference } from './prefix-difference.ts'

interface Golden {
  readonly generation: readonly {
    readonly name: string
    readonly text: string
    readonly blocks: readonly (readonly [number, number])[]
    readonly ids: readonly number[]
    readonly mask: readonly number[]
  }[]
  readonly differences: readonly {
    readonly template: string
    /** Omitted for the tokenizer's own template. */
    readonly text?: string
    readonly messages: readonly TemplateMessage[]
    readonly prefix: readonly {
      readonly message: number
      readonly ids: readonly number[]
      readonly opens: boolean
      readonly stays: boolean
    }[]
    readonly fixedBase: { readonly ids: readonly number[]; readonly mask: readonly number[] }
  }[]
}

const golden: { readonly tokenizers: Readonly<Record<string, Golden>> } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'golden.json'), 'utf8'),
)

const bits = (trained: readonly boolean[]): readonly number[] => trained.map((is) => (is ? 1 : 0))

describe.each(Object.entries(golden.tokenizers))(
  'loss masks with the tokenizer %s',
  (name, { generation, differences }) => {
    const { tokenizer, template, compile } = loadedTokenizer(tokenizerFolder(name))

    test.each(generation.map((each, index) => [`${each.name} ${index}`, each] as const))(
      'of generation blocks, %s, equal those of transformers',
      (_, { text, blocks, ids, mask }) => {
        const encoding = encodeWithOffsets(tokenizer, text)
        const conversation = {
          tokenizer,
          encoding,
          parts: [],
          messages: [],
          rendering: {
            text,
            pieces: [],
            hasGenerationTag: true,
            generation: blocks.map(([start, end]) => ({ start, end })),
          },
        } as unknown as ConversationTokens
        const found = generationMask(conversation)
        expect(found.ids).toEqual(ids)
        expect(bits(found.trained)).toEqual(mask)
      },
    )

    const cases = differences.map((each, index) => [`${each.template} template ${index}`, each] as const)
    const conversationOf = ({ text, messages }: Golden['differences'][number]): ConversationTokens => {
      const compiled = text === undefined ? template(false) : compile(text)
      if (!compiled) throw new Error(`${name} has no template`)
      const input = { messages, tools: undefined, addGenerationPrompt: false, options: { date_string: '26 Jul 2024' } }
      const read = conversationTokens(input, compiled, tokenizer)
      if (!read.ok) throw new Error(read.error.message)
      return read.value
    }

    test.each(cases)('by prefixes, %s, equal those of Python', (_, each) => {
      const conversation = conversationOf(each)
      const { ids, trained, messages, breaks } = runToEnd(prefixDifference(conversation))
      for (const { message, ids: expected, opens, stays } of each.prefix) {
        const own = ids.filter((_, index) => trained[index] && messages[index] === message)
        expect(own).toEqual(expected)
        expect(breaks.filter((broken) => broken.message === message)).toHaveLength(Number(!opens) + Number(!stays))
      }
      if (each.prefix.every(({ opens, stays }) => opens && stays)) expect(ids).toEqual(conversation.encoding.ids)
    })

    test.each(cases)('by verl’s fixed base, %s, equal those of Python', (_, each) => {
      const read = fixedBaseDifference(conversationOf(each))
      if (!read.ok) throw new Error(read.error.message)
      expect(read.value.ids).toEqual(each.fixedBase.ids)
      expect(bits(read.value.trained)).toEqual(each.fixedBase.mask)
    })
  },
)
